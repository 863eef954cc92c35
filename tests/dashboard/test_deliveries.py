"""The deliveries of an application: listed, looked into, sent again, tested, verified by programs; and its first call,
whose steps turn green by themselves."""

import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paraph.dashboard.applications.deliveries import VERIFIERS, first_request
from paraph.kernel import clock
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.limits import admit
from paraph.tenants.models import Activity, Application, Organization, Role, User
from paraph.webhooks import deliveries
from paraph.webhooks.models import Delivery
from paraph.webhooks.outbox import release, signature
from tests.dashboard.conftest import LogIn, proved, read, rows_of
from tests.factories import Scene, seal_everything, sign
from tests.tenancy import create_application, rotate
from tests.webhooks.parties import ACCEPTED, REFUSED, answer_all, prepared_deliveries, record, told

PROGRAMS = {"sh": ["sh"], "python": ["python3"], "javascript": ["node"], "php": ["php"]}


class Here:
    """An application that is notified of events, an admin of its organization, and the address of its deliveries."""

    def __init__(self, log_in: LogIn, **told_of: Any) -> None:
        self.scene, self.secret = told(**told_of)
        self.request = self.scene.request
        self.application = self.request.application
        assert self.application
        organization = Organization.objects.get(pk=self.request.organization_id)
        self.member, self.client = log_in(Role.ADMIN, at=organization)
        self.pages = f"/app/{organization.pk}/applications/{self.application.pk}/deliveries"

    def page(self, rest: str = "") -> str:
        return read(self.client.get(f"{self.pages}{rest}"))

    def rows(self, rest: str = "") -> list[int]:
        return rows_of(self.page(rest))


@pytest.fixture
def here(log_in: LogIn) -> Here:
    return Here(log_in)


def tell(made: Scene, event: str, days_ago: int = 0) -> int:
    record(made.request, event, occurred_at=clock.now() - timedelta(days=days_ago))
    return Delivery.objects.latest("pk").pk


def test_deliveries_are_filtered_by_state_event_and_time(here: Here) -> None:
    old = tell(here.scene, "request.expired", 9)
    answer_all(ACCEPTED, clock.now())
    new = tell(here.scene, "signer.notified")
    assert here.rows() == [new, old]
    assert (here.rows("?status=delivered"), here.rows("?status=waiting")) == ([old], [new])
    assert here.rows("?event=signer.notified") == [new]
    day = (datetime.now(UTC) - timedelta(days=5)).date().isoformat()
    assert (here.rows(f"?since={day}"), here.rows(f"?until={day}")) == ([new], [old])
    assert here.rows("?status=nonsense&before=x") == here.rows("?until=9999-12-31") == [new, old]


def test_long_lists_are_read_page_by_page_whatever_happens_meanwhile(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "AT_ONCE", 2)
    moment = clock.now()
    for _ in range(5):  # all of one moment, so that the number decides the order
        record(here.request, "signer.notified", occurred_at=moment)
    numbers = list(Delivery.objects.order_by("-pk").values_list("pk", flat=True))
    seen, address = [], "?status=waiting"
    while address:
        page = here.page(address)
        seen += rows_of(page)
        Delivery.objects.filter(pk=seen[-1]).update(status="delivered")  # it no longer matches the filter
        further = re.search(r'href="(\?[^"]*before=\d+[^"]*)"', page)
        address = further[1] if further else ""
    assert seen == numbers


def test_a_delivery_shows_its_attempts_and_the_very_bytes_that_were_signed(here: Here) -> None:
    number = tell(here.scene, "signer.notified")
    [sent] = prepared_deliveries()
    Delivery.objects.update(claimed_at=None, open_attempt=None)
    answer_all(REFUSED, clock.now())
    page = here.page(f"/{number}")
    assert here.client.get(f"{here.pages}/{number}/body").content == sent.body
    assert sent.body.decode() in page
    assert sent.headers["X-Service-Signature"] in page
    assert "HTTP 500" in page and "oh no" in page and "Next attempt" in page
    assert here.secret not in page


def test_results_have_fresh_links_and_are_not_shown_before_they_are_sealed(here: Here) -> None:
    number = tell(here.scene, "request.completed")
    assert "as soon as the results are sealed" in here.page(f"/{number}")
    assert here.client.get(f"{here.pages}/{number}/body").status_code == 404
    assert 'role="alert"' in read(here.client.post(f"{here.pages}/{number}/again"), 422)
    seal_everything(here.scene.request)
    Delivery.objects.update(status="delivered")
    page = here.page(f"/{number}")
    assert "signed_url" in page and "created afresh for every attempt" in page


def test_during_a_rotation_both_signatures_are_shown(here: Here) -> None:
    number = tell(here.scene, "signer.notified")
    assert here.application
    following = rotate(here.application.pk, timedelta(days=1)).webhook_secret
    body = here.client.get(f"{here.pages}/{number}/body").content
    page = here.page(f"/{number}")
    assert signature(here.secret, body) in page and signature(following, body) in page


def test_a_delivery_is_sent_again_once_and_noted(here: Here) -> None:
    number = tell(here.scene, "request.expired")
    answer_all(ACCEPTED, clock.now())
    assert here.client.post(f"{here.pages}/{number}/again").status_code == 303
    assert [delivery.claimed.delivery_id for delivery in prepared_deliveries()] == [number]
    assert "being sent right now" in read(here.client.post(f"{here.pages}/{number}/again"), 422)
    [act] = Activity.objects.filter(action="delivery.sent_again")
    assert (act.actor, act.after["delivery_id"]) == (here.member.user.email, number)


def test_a_test_goes_the_way_of_every_delivery_and_touches_no_request(here: Here) -> None:
    before = SignatureRequest.objects.values().get(), here.scene.events()
    made = here.client.post(f"{here.pages}/test")
    [delivery] = Delivery.objects.all()
    assert made["Location"] == f"{here.pages}/{delivery.pk}"
    assert "already on its way" in read(here.client.post(f"{here.pages}/test"), 422)
    [sent] = prepared_deliveries()
    about = (sent.claimed.url, sent.headers["X-Service-Event"], sent.headers["X-Service-Event-Id"])
    assert about == ("https://hooks.example/in", "webhook.test", "0")
    expected = "sha256=" + hmac.new(here.secret.encode(), sent.body, hashlib.sha256).hexdigest()
    assert sent.headers["X-Service-Signature"] == expected
    Delivery.objects.update(claimed_at=None, open_attempt=None)
    assert answer_all(ACCEPTED, clock.now()) == 1
    assert "Delivered" in here.page(f"/{delivery.pk}")
    assert (SignatureRequest.objects.values().get(), here.scene.events()) == before
    assert here.client.post(f"{here.pages}/test").status_code == 303, "the one before has ended"


@pytest.mark.parametrize("verifier", [each for each in VERIFIERS if shutil.which(PROGRAMS[each.language][0])])
def test_the_verifiers_tell_genuine_from_forged(verifier: object, tmp_path: Path) -> None:
    body, secret = '{"event":"signer.signed","first_name":"Émile"}'.encode(), "5e" * 32
    (tmp_path / "program").write_text(verifier.program)  # type: ignore[attr-defined]
    command = [*PROGRAMS[verifier.language], "program"]  # type: ignore[attr-defined]
    for content, given, said in (
        (body, signature(secret, body), "genuine"),
        (body + b" ", signature(secret, body), "forged"),
        (body, "sha256=", "forged"),
    ):
        (tmp_path / "body.json").write_bytes(content)
        environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": secret, "SIGNATURE": given}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.returncode) == (said, said == "forged"), done.stderr


def test_those_of_all_applications_stand_on_one_page(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliveries stand newest first, with links, filtered by outcome, of one environment and one organization."""
    asked = here.request
    all_of_them = f"/app/{asked.organization_id}/deliveries"
    numbers = [tell(here.scene, "request.expired", 9)]
    answer_all(ACCEPTED, clock.now())
    for environment in ("production", "sandbox"):
        other = create_application(
            asked.organization_id, environment, f"books-{environment}", "https://books.example/in"
        )
        SignatureRequest.objects.filter(pk=asked.pk).update(application=other.application)
        asked.refresh_from_db()
        numbers.append(tell(here.scene, "signer.notified", 3 - len(numbers)))
    told()  # of another organization
    tell(told()[0], "signer.notified")

    def page(query: str = "") -> str:
        return read(here.client.get(f"{all_of_them}{query}"))

    def rows(query: str = "") -> list[int]:
        return rows_of(page(query))

    oldest, middle, newest = numbers
    assert rows() == [middle]
    here.client.post(f"/app/{asked.organization_id}/environment", {"to": "sandbox"})
    assert rows() == rows("?status=nonsense") == [newest, oldest] and here.rows() == [oldest]
    assert (rows("?status=delivered"), rows("?status=waiting")) == ([oldest], [newest])
    assert here.application
    shown = page("?status=delivered")
    assert f'href="{here.pages}/{oldest}"' in shown and f'href="{here.pages.removesuffix("/deliveries")}"' in shown
    assert f'href="/app/{asked.organization_id}/requests/{asked.pk}"' in shown
    assert 'aria-current="page"' in shown.partition(f'href="{all_of_them}"')[2][:20]
    monkeypatch.setattr(deliveries, "AT_ONCE", 1)
    [further] = re.findall(r'href="(\?[^"]*before=\d+[^"]*)"', page())
    assert (rows(), rows(further)) == ([newest], [oldest]) and "before=" not in page(further)


def test_an_organization_without_applications_reads_what_will_be_listed(log_in: LogIn) -> None:
    member, client = log_in(Role.OWNER)
    assert "No deliveries yet" in read(client.get(f"/app/{member.organization_id}/deliveries"))


BY_SCRIPT = {"HX-Request": "true"}


class FirstCall(Here):
    """The page of an application that keeps its webhooks, with a request of one signer."""

    def __init__(self, log_in: LogIn) -> None:
        super().__init__(log_in, webhook_url="", signers=1)
        self.pages = self.pages.replace("/deliveries", "/first-call")
        proved(self.client)

    def part(self) -> str:
        """Return the part of the page by which its script replaces the progress."""
        return read(self.client.get(self.pages, headers=BY_SCRIPT))


@pytest.fixture
def first(log_in: LogIn) -> FirstCall:
    return FirstCall(log_in)


def done(page: str) -> int:
    return page.count('<li class="done">')


def test_the_page_that_shows_a_key_turns_green_once_it_is_used(log_in: LogIn) -> None:
    member, client = log_in()
    pages = f"/app/{member.organization_id}/applications"
    form = {"name": "new", "environment": "sandbox", "webhook_url": ""}
    page = proved(client).post(f"{pages}/new", form).content.decode()
    new = Application.objects.get()
    asks = f'hx-get="{pages}/{new.pk}/used" hx-trigger="every 2s"'
    assert asks in page and f'href="{pages}/{new.pk}/first-call"' in page
    for address in (pages, f"{pages}/{new.pk}/used"):
        unused = read(client.get(address))
        assert asks in unused and '<span class="status">Never</span>' in unused
    found = re.search(r'data-secret="api_key">([0-9a-f]{64})<', page)
    assert found and admit(found[1])
    for address in (pages, f"{pages}/{new.pk}/used"):
        used = read(client.get(address))
        assert "hx-get" not in used and '<span class="status active"><time' in used


def test_a_page_that_stays_open_stops_asking(log_in: LogIn) -> None:
    member, client = log_in()
    new = create_application(member.organization_id, "sandbox", "old").application
    Application.objects.update(created_at=clock.now() - timedelta(hours=2))
    for rest in ("", f"/{new.pk}/used", f"/{new.pk}/first-call"):
        assert "hx-get" not in read(client.get(f"/app/{member.organization_id}/applications{rest}"))


def test_steps_turn_green_as_they_are_done(first: FirstCall) -> None:
    page, [signer] = first.part(), first.scene.signers
    link = f"/app/{first.request.organization_id}/requests/{first.request.pk}/signers/{signer.pk}/link"
    assert done(page) == 1 and f'action="{link}"' in page and "hx-get" in page and "<html" not in page
    shown = read(first.client.post(link))
    assert f'href="{signing_url(signer)}"' in shown and "also shows the code" in shown
    sign(first.scene)
    page = first.part()
    assert done(page) == 2 and "action=" not in page and "hx-get" in page
    seal_everything(first.request)
    release(first.request.pk)
    SignatureRequest.objects.update(finalized=True)
    page = first.part()
    assert done(page) == 3 and "hx-get" not in page
    assert "nothing is sent" in page and "X-Service-Signature: sha256=" in page
    assert '"event":"request.completed"' in page and '"certificate_url":"http' in page


def test_the_script_gets_nothing_while_nothing_has_changed(first: FirstCall) -> None:
    asked = re.search(r'hx-get="([^"]+\?seen=[^"]+)"', first.part())
    assert asked
    assert first.client.get(asked[1], headers=BY_SCRIPT).status_code == 204
    assert "<html" in read(first.client.get(asked[1])), "a reload is no question of the script"
    sign(first.scene)
    assert first.client.get(asked[1], headers=BY_SCRIPT).status_code == 200


def test_a_first_call_is_of_an_application_of_the_sandbox_and_its_own_requests(first: FirstCall) -> None:
    pages = f"/app/{first.request.organization_id}/applications"
    other = create_application(first.request.organization_id, "sandbox", "other").application
    page = read(first.client.get(f"{pages}/{other.pk}/first-call"))
    assert done(page) == 0 and "/link" not in page
    theirs = told()[0].request.application_id
    live = create_application(first.request.organization_id, "production", "live").application
    for number in (theirs, live.pk):
        assert first.client.get(f"{pages}/{number}/first-call").status_code == 404
    assert "first-call" not in read(first.client.get(f"{pages}/{live.pk}"))


@pytest.mark.parametrize("name", ["", "Ada", "Ada King Byron", "Conan O'Brien", 'Eve "$(exit 9)" `x` \\ DOCUMENT'])
def test_the_lines_say_what_the_api_takes_whatever_the_member_is_called(name: str, tmp_path: Path) -> None:
    """A shell runs the lines, with a program in the place of curl that answers like the service."""
    lines = first_request("http://localhost:8000/api/v1", User(name=name, email="me@example.com"))
    curl = tmp_path / "curl"
    curl.write_text('#!/bin/sh\ncase "$*" in *documents*-F*) echo \'{"id": 7}\';; *) printf %s "$7" ;; esac\n')
    curl.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "KEY": "key"}
    ran = subprocess.run(["bash", "-euc", lines], env=environment, capture_output=True, text=True, check=True)
    sent = json.loads(ran.stdout)["signature_request"]
    assert sent["documents"][0]["id"] == 7 and sent["signers"][0]["email"] == "me@example.com"
    signer = sent["signers"][0]
    assert not name or f"{signer['first_name']} {signer['last_name']}".startswith(name)


def test_nobody_is_asked_to_sign_as_another_person(first: FirstCall) -> None:
    own, page = "Open your signing page</button>", first.part()
    assert own not in page and "Show the signing link</button>" in page
    Signer.objects.update(email=first.member.user.email.upper())
    assert own in first.part()
