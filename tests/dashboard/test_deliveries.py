"""The deliveries of an application: listed, looked into, sent again, tested, verified by programs."""

import hashlib
import hmac
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from paraph.dashboard.applications.deliveries import VERIFIERS
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Activity, Organization, Role
from paraph.webhooks import deliveries
from paraph.webhooks.models import Delivery
from paraph.webhooks.outbox import signature
from tests.dashboard.conftest import LogIn
from tests.factories import Scene, seal_everything
from tests.tenancy import create_application, rotate
from tests.webhooks.parties import ACCEPTED, REFUSED, answer_all, prepared_deliveries, record, told

PROGRAMS = {"sh": ["sh"], "python": ["python3"], "javascript": ["node"], "php": ["php"]}


class Here:
    """An application that is told of events, its member, and the addresses of its deliveries."""

    def __init__(self, log_in: LogIn) -> None:
        self.scene, self.secret = told()
        self.request = self.scene.request
        self.application = self.request.application
        assert self.application
        organization = Organization.objects.get(pk=self.request.organization_id)
        self.member, self.client = log_in(Role.ADMIN, at=organization)
        self.pages = f"/app/{organization.pk}/applications/{self.application.pk}/deliveries"

    def page(self, rest: str = "") -> str:
        return unescape(self.client.get(f"{self.pages}{rest}").content.decode())

    def rows(self, rest: str = "") -> list[int]:
        return [int(found) for found in re.findall(r'<tr data-id="(\d+)"', self.page(rest))]


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
    assert here.rows("?status=nonsense&before=x") == [new, old]


def test_long_lists_are_read_page_by_page_whatever_happens_meanwhile(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "AT_ONCE", 2)
    moment = clock.now()
    for _ in range(5):  # of one moment: the number decides
        record(here.request, "signer.notified", occurred_at=moment)
    numbers = list(Delivery.objects.order_by("-pk").values_list("pk", flat=True))
    seen, address = [], "?status=waiting"
    while address:
        page = here.page(address)
        seen += [int(found) for found in re.findall(r'<tr data-id="(\d+)"', page)]
        Delivery.objects.filter(pk=seen[-1]).update(status="delivered")  # the one to go on from is filtered away
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
    again = here.client.post(f"{here.pages}/{number}/again")
    assert again.status_code == 422 and 'role="alert"' in again.content.decode()
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
    under_way = here.client.post(f"{here.pages}/{number}/again")
    assert under_way.status_code == 422 and "being sent right now" in under_way.content.decode()
    [act] = Activity.objects.filter(action="delivery.sent_again")
    assert (act.actor, act.after["delivery_id"]) == (here.member.user.email, number)


def test_a_test_goes_the_way_of_every_delivery_and_touches_no_request(here: Here) -> None:
    before = SignatureRequest.objects.values().get(), here.scene.events()
    made = here.client.post(f"{here.pages}/test")
    [delivery] = Delivery.objects.all()
    assert made["Location"] == f"{here.pages}/{delivery.pk}"
    second = here.client.post(f"{here.pages}/test")
    assert second.status_code == 422 and "already on its way" in second.content.decode()
    [sent] = prepared_deliveries()
    assert (sent.claimed.url, sent.headers["X-Service-Event"]) == ("https://hooks.example/in", "webhook.test")
    expected = "sha256=" + hmac.new(here.secret.encode(), sent.body, hashlib.sha256).hexdigest()
    assert sent.headers["X-Service-Signature"] == expected
    Delivery.objects.update(claimed_at=None, open_attempt=None)
    assert answer_all(ACCEPTED, clock.now()) == 1
    assert "Delivered" in here.page(f"/{delivery.pk}")
    assert (SignatureRequest.objects.values().get(), here.scene.events()) == before
    assert here.client.post(f"{here.pages}/test").status_code == 303, "the one before has ended"


def test_applications_have_their_own_deliveries_alone(here: Here, log_in: LogIn) -> None:
    number = tell(here.scene, "request.expired")
    answer_all(ACCEPTED, clock.now())
    other = Here(log_in)
    assert here.rows("") == [number] and other.rows("") == []
    assert other.client.post(f"{other.pages}/{number}/again").status_code == 404
    assert Delivery.objects.get().status == "delivered"


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
    """Newest first, with ways to application and request, filtered by outcome, of one environment; nobody else's."""
    organization = Organization.objects.get(pk=here.request.organization_id)
    asked = here.request
    numbers = [tell(here.scene, "request.expired", 9)]
    answer_all(ACCEPTED, clock.now())
    for environment in ("production", "sandbox"):
        other = create_application(organization.pk, environment, f"books-{environment}", "https://books.example/in")
        SignatureRequest.objects.filter(pk=asked.pk).update(application=other.application)
        asked.refresh_from_db()
        numbers.append(tell(here.scene, "signer.notified", 3 - len(numbers)))
    told()  # of another organization
    tell(told()[0], "signer.notified")

    def rows(query: str = "") -> list[int]:
        return [int(found) for found in re.findall(r'<tr data-id="(\d+)"', page(query))]

    def page(query: str = "") -> str:
        return here.client.get(f"/app/{organization.pk}/deliveries{query}").content.decode()

    oldest, middle, newest = numbers
    assert rows() == [middle]
    here.client.post(f"/app/{organization.pk}/environment", {"to": "sandbox"})
    assert rows() == rows("?status=nonsense") == [newest, oldest]
    assert (rows("?status=delivered"), rows("?status=waiting")) == ([oldest], [newest])
    assert here.application
    shown = page("?status=delivered")
    assert f'href="{here.pages}/{oldest}"' in shown and f'href="{here.pages.removesuffix("/deliveries")}"' in shown
    assert f'href="/app/{organization.pk}/requests/{asked.pk}"' in shown
    assert 'aria-current="page"' in shown.partition(f'href="/app/{organization.pk}/deliveries"')[2][:20]
    monkeypatch.setattr(deliveries, "AT_ONCE", 1)
    seen: list[int] = []
    query = ""
    while len(seen) < 2:
        seen += rows(query)
        further = re.search(r'href="(\?[^"]*before=\d+[^"]*)"', page(query))
        query = unescape(further[1]) if further else ""
    assert seen == [newest, oldest] and not query


def test_an_organization_without_applications_reads_what_will_be_listed(log_in: LogIn) -> None:
    member, client = log_in(Role.OWNER)
    assert "No deliveries yet" in client.get(f"/app/{member.organization_id}/deliveries").content.decode()
