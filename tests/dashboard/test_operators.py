"""``/operator``: who sees it, what it says, and that nothing of documents, codes or links stands there."""

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation

from paraph.dashboard import operator_pages as looking
from paraph.dashboard.middleware import POLICY
from paraph.dashboard.operator_pages import Look
from paraph.evidence import failures
from paraph.evidence.models import Backup, SealingFailure
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.operations.check.service_checks import CHECKS, LINES_WITHIN
from paraph.operations.people import add_operator, remove_operator
from paraph.pdf.refusal import SealError
from paraph.queue.jobs import defer
from paraph.signature_requests.links import token
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import Activity, Organization, Role, Storage, User
from tests.columns import columns
from tests.dashboard.conftest import BrowserClient, LogIn, proved, read, scene
from tests.dashboard.html_rules import broken_rules, row_count
from tests.dashboard.matrix import operators_addresses
from tests.tenancy import create_organization

WELL = [ok("PostgreSQL answers.", "database"), ok("All are there.", "fonts")]
ARGUMENT = {"invite": "signer_id", "finalize": "request_document_id"}
FAR = datetime(2050, 1, 1, tzinfo=UTC)
TROUBLE = [failed("The key does not open.", "sealing"), warning("The disk is 91 % full.", "disk"), *WELL]


@pytest.fixture(autouse=True)
def outcomes(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Outcome]]:
    """The outcomes of the checks in this test, beside those that each page makes itself. A worker is alive."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now())")
    said = list(WELL)
    monkeypatch.setattr(looking, "run_checks", lambda: list(said))
    latest = looking.LATEST
    latest._look = Look()
    yield said
    if latest._renewal.ident:
        latest._renewal.join()


def operator(email: str = "olga@operators.test") -> Client:
    """The browser of an operator who has just logged in with both factors."""
    return proved(proved(with_factor(add_operator(OPERATOR, email)), method="mfa", type="totp"))


def with_factor(user: User) -> BrowserClient:
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    client = BrowserClient()
    client.force_login(user)
    return client


def noted() -> list[tuple[str, str, str]]:
    rows = Activity.objects.filter(organization=None)
    return [(row.actor, row.action, row.subject) for row in rows]


@pytest.fixture
def client(db: None) -> Client:
    """The browser of an operator."""
    return operator()


def content(client: Client, address: str = "/operator", **options: Any) -> str:
    page = read(client.get(address, **options))
    assert broken_rules(page) == []
    return page


ADDRESSES = operators_addresses()


def test_where_nobody_was_added_nobody_finds_it(log_in: LogIn) -> None:
    for client in (Client(), log_in(Role.OWNER)[1]):
        for address in ADDRESSES:
            assert client.get(address).status_code == client.post(address).status_code == 404


def test_strangers_log_in_and_other_accounts_find_nothing(log_in: LogIn, client: Client) -> None:
    assert client.get("/operator").status_code == 200
    member, owner = log_in(Role.OWNER)
    before = len(noted())
    for address in ADDRESSES:
        assert Client().get(address).headers["Location"] == f"/account/login/?next={address}"
        assert Client().post(address).status_code == 303
        assert proved(owner).get(address).status_code == proved(owner).post(address).status_code == 404
    assert len(noted()) == before
    assert client.get(f"/app/{member.organization_id}/").status_code == 404, "operators gain nothing in organizations"
    remove_operator(OPERATOR, "Olga@operators.test ")
    assert client.get("/operator").status_code == 404
    with pytest.raises(DomainError):
        remove_operator(OPERATOR, "olga@operators.test")


def test_a_member_who_operates_gains_nothing_in_their_organization(log_in: LogIn) -> None:
    member, _ = log_in(Role.MEMBER)
    theirs = operator(member.user.email)
    assert theirs.get(f"/app/{member.organization_id}/applications").status_code == 403


def test_headers_and_forms_are_guarded_as_everywhere(client: Client) -> None:
    for address in ADDRESSES:
        visitor = Client(enforce_csrf_checks=True)
        visitor.cookies = client.cookies
        assert visitor.post(address, {"to": "suspend"}).status_code == 403
        headers = client.get(address).headers
        assert headers["Content-Security-Policy"] == POLICY and "no-store" in headers["Cache-Control"]
    assert len(ADDRESSES) == 4 and "retried" not in str(noted())


def test_it_takes_a_second_factor_that_was_given_in_this_session() -> None:
    user = add_operator(OPERATOR, "olga@operators.test")
    client: Client = BrowserClient()
    client.force_login(user)
    assert "/account/2fa/" in read(proved(client).get("/operator"), 403)
    assert proved(client).post("/operator/retry").status_code == 403
    client = proved(with_factor(user))
    for address in ADDRESSES:  # logged in by password alone, before there was a second factor
        asked = client.get(address)
        way = f"/account/2fa/reauthenticate/?next={address.replace('/', '%2F')}"
        assert (asked.status_code, asked.headers["Location"]) == (303, way)
        assert client.post(address).status_code == 303
    assert [action for _, action, _ in noted()] == ["operator.added"]
    Authenticator.objects.update(type=Authenticator.Type.WEBAUTHN, data={"name": "key"})
    asked = client.get("/operator")
    assert asked.headers["Location"].startswith("/account/2fa/webauthn/reauthenticate/?next="), "without an app, a key"


def test_the_verdict_comes_first(outcomes: list[Outcome], client: Client) -> None:
    page = content(client).replace("\n", "")
    assert "<h1>All is well</h1>" in page and "<title>All is well" in page
    failing()
    page = content(client)
    assert "1 thing needs you" in page and "paraph request list --failed" in page, "of now, as the database knows"
    SealingFailure.objects.all().delete()
    looking_again(outcomes, [warning("The disk is 91 % full.", "disk"), *WELL])
    assert "The service works, with 1 thing to know of" in content(client)
    looking_again(outcomes, TROUBLE)
    page = content(client)
    assert page.index("1 thing needs you") < page.index("The key does not open.") < page.index("The disk is 91 % full.")
    assert "<code>paraph check --only 'sealing'</code>" in page and "paraph check --only 'disk'" in page
    looking_again(outcomes, [failed("It is away.", "storage"), *TROUBLE])
    german = content(client, headers={"Accept-Language": "de"})
    assert "2 Dinge brauchen Sie" in german and '<html lang="de">' in german


def looking_again(outcomes: list[Outcome], said: list[Outcome]) -> None:
    outcomes[:] = said
    looking.LATEST._look = Look()


def test_the_real_checks_are_kept_and_no_page_waits_for_those_that_are_slow(
    log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, asked = threading.Event(), []

    def slowly() -> list[Outcome]:
        asked.append(1)
        released.wait(30)
        return list(WELL)

    monkeypatch.setattr(looking, "run_checks", slowly)
    monkeypatch.setattr(looking, "_PATIENCE_SECONDS", 0.01)
    client = operator()
    for _ in range(2):
        assert "The service is being checked" in content(client)
    assert asked == [1], "those that are under way are not begun again"
    released.set()
    looking.LATEST._renewal.join()
    assert "All is well" in content(client)
    assert asked == [1], "a result of this half minute is shown as it is"
    at = looking.LATEST._look.at
    for age, renewed in ((timedelta(seconds=29), 1), (timedelta(seconds=31), 2)):
        monkeypatch.setattr(clock, "now", lambda age=age: at + age)
        assert f'datetime="{at:%Y-%m-%dT%H:%M:%S}' in content(client), "with its age"
        looking.LATEST._renewal.join()
        assert len(asked) == renewed


def test_every_line_has_a_title_in_words_of_the_reader() -> None:
    lines = [check.name for check in CHECKS] + [*LINES_WITHIN, "timestamp https://a.example", "clock https://a.example"]
    with translation.override("de"):
        titles = {name: render_to_string("dashboard/operators/line.html", {"name": name}) for name in lines}
    assert [name for name, title in titles.items() if title == name] == []
    assert titles["clock https://a.example"] == "Uhr <small>https://a.example</small>"
    assert render_to_string("dashboard/operators/line.html", {"name": "of a newer version"}) == "of a newer version"


def test_work_and_certificates_are_told(outcomes: list[Outcome], client: Client) -> None:
    page = content(client)
    assert page.count("on time") == 2 and "None by paraph backup" in page
    Backup.objects.create(as_of=clock.now(), problems=0)
    for task, count in (("invite", 2), ("finalize", 1), ("sweep_storage", 1)):
        for _ in range(count):
            defer(task, **({"timestamp": 0} if task == "sweep_storage" else {ARGUMENT[task]: 1}))
    defer("send_rows", bulk_send_id=1)
    with connection.cursor() as cursor:
        set_to = "UPDATE procrastinate_jobs SET {} WHERE task_name LIKE %s"
        cursor.execute(set_to.format("scheduled_at = now() - interval '3 hours'"), ["%.invite"])
        cursor.execute(set_to.format("status = 'failed'"), ["%.send_rows"])
    look = Look(clock.now(), list(WELL), {"production": clock.now() + timedelta(days=29), "timestamp": FAR})
    looking.LATEST._look = look
    page = content(client)
    told = dict(re.findall(r"<dt>([^<]+)</dt><dd>(.*?)</dd>", page, re.DOTALL))
    assert "2 <span" in told["Mails"] and "late by 3\xa0hours" in told["Mails"]
    assert told["Seals and proofs"].startswith("1 ") and "· on time" in told["Seals and proofs"]
    assert "1 given up" in told["Bulk sends"] and told["Housekeeping"].startswith("1 ")
    assert "Ends soon" in told["Seals"] and "until 1 January 2050" in told["Timestamps"]
    assert "<time" in told["Last backup"]


def failing(kind: str = "outside", error: Exception | None = None) -> SignatureRequest:
    request = scene().request
    SignatureRequest.objects.filter(pk=request.pk).update(status=RequestStatus.COMPLETED, completed_at=clock.now())
    failures.note(request.pk, "seal", error or OSError("Contract of Zoë.pdf"))
    return request


def test_a_failure_says_its_cause_and_is_tried_again(client: Client) -> None:
    request = failing(error=DomainError("configuration", "PARAPH_SEALING_KEY names no file."))
    failing()
    page = content(client)
    assert "PARAPH_SEALING_KEY names no file." in page and "The service is not set up to seal." in page
    assert "The store, the database or the network fails." in page and "Contract of Zoë.pdf" not in page
    assert page.count("Given up") == 2
    assert client.post(f"/operator/requests/{request.pk}/retry").headers["Location"] == "/operator"
    page = content(client)
    assert f"Request {request.pk} is tried again now." in page and page.count("Given up") == 1
    assert client.post("/operator/retry").status_code == 303
    assert "2 requests are tried again now." in content(client)
    assert client.get("/operator/retry").status_code == 405
    assert client.post("/operator/requests/999999999/retry").status_code == 404
    assert [entry for entry in noted() if "retried" in entry[1]] == [
        ("olga@operators.test", "operator.request_retried", f"request {request.pk}"),
        ("olga@operators.test", "operator.requests_retried", ""),
    ]


def test_organizations_are_paged_searched_suspended_and_resumed(client: Client) -> None:
    made = [create_organization(f"Tenant {number}", "pro") for number in range(45)]
    Storage.objects.update_or_create(organization=made[7], environment="sandbox", defaults={"bytes": 3 * 1024**3})
    Storage.objects.update_or_create(organization=made[7], environment="production", defaults={"bytes": 1024**3})
    page = content(client)
    assert row_count(page.partition('id="organizations"')[2].partition("<details>")[0]) == 20
    assert re.findall(r'organizations/(\d+)">', page)[0] == str(made[7].pk) and "4.0\xa0GB" in page
    seen = {int(pk) for number in (1, 2, 3) for pk in listed(content(client, f"/operator?page={number}"))}
    assert seen == {each.pk for each in Organization.objects.all()}
    assert listed(content(client, "/operator?q=tenant+44")) == [str(made[44].pk)]
    assert listed(content(client, f"/operator?q={made[3].pk}"))[0] == str(made[3].pk)
    assert "No organizations match" in content(client, "/operator?q=nobody")
    assert client.get("/operator?page=x&q=" + "x" * 300).status_code == 200
    address = f"/operator/organizations/{made[7].pk}"
    assert "Suspend the organization" in content(client, address)
    assert client.get("/operator/organizations/999999999").status_code == 404
    for to in ("", "delete"):
        assert client.post(address, {"to": to}).status_code == 422
    for to, suspended in (("suspend", True), ("resume", False)):
        assert client.post(address, {"to": to}).headers["Location"] == address
        assert bool(Organization.objects.get(pk=made[7].pk).suspended_at) is suspended
        assert ("Suspended" in content(client)) is suspended
        assert client.post(address, {"to": to}).status_code == 422, "twice"
    acts = Activity.objects.filter(organization=made[7], actor_kind="operator", actor="olga@operators.test")
    assert list(acts.values_list("action", "ip")) == [
        ("organization.suspended", "127.0.0.1"),
        ("organization.resumed", "127.0.0.1"),
    ]
    assert ("olga@operators.test", "operator.organization_seen", f"organization {made[7].pk}") in noted()
    proved(client, seconds_ago=301)
    asked = client.post(address, {"to": "suspend"})
    assert "reauthenticate/?next=" in asked.headers["Location"]
    assert Organization.objects.get(pk=made[7].pk).suspended_at is None
    assert client.get("/operator").status_code == 200


def listed(page: str) -> list[str]:
    return re.findall(r'<tr data-id="(\d+)">\s*<th scope="row"><a href="/operator/organizations', page)


SHOWN = {
    ("organizations_organization", "id"),
    ("organizations_organization", "name"),
    ("organizations_organization", "plan"),
    ("evidence_sealingfailure", "kind"),  # words from which sentences are made
    ("organizations_tally", "status"),
    ("signature_requests_signaturerequest", "status"),
}
"""What pages of operators may show of the database, besides numbers, times and the address of the operator."""


def test_nothing_of_documents_codes_or_links_is_shown(log_in: LogIn, outcomes: list[Outcome]) -> None:
    """Texts of columns are shown only where the column is named above, so a new column is refused at first."""
    outcomes[:] = [ok("It answers.", "database"), ok("Of today.", "backup")]
    log_in(Role.OWNER)
    made = scene(copies=1, environment="production")
    secrets = ["Zoë", "Adèle", token(made.signers[0]), made.code(), made.signers[0].email, made.signers[0].full_name]
    client, addresses = operator(), ("/operator", f"/operator/organizations/{made.request.organization_id}")
    retried = failing(error=SealError("Contract of Adèle.pdf has no room"))
    defer("finalize", request_document_id=retried.request_documents.get().pk)  # it is tried again by itself
    pages_shown = [content(client, address) for address in addresses]
    failing(error=SealError("Contract of Zoë.pdf has no room"))
    pages_shown += [content(client, address) for address in addresses]
    text = " ".join(re.sub(r'csrfmiddlewaretoken" value="\w+"', "", page) for page in pages_shown)
    assert not [each for each in secrets if each in text]
    words = set(re.findall(r"[\w@.+-]+", re.sub(r"<[^>]*>", " ", text)))
    found = {
        (table, column, value)
        for table, column, value in columns()
        if (table, column) not in SHOWN
        and value != "olga@operators.test"
        and len(value) > 3
        and not re.fullmatch(r"[\d.:+ tf-]+", value)
        if value in words or (not value.isalnum() and value in text)
    }
    assert not {
        each for each in found if each[0] not in ("django_migrations", "django_content_type", "auth_permission")
    }
