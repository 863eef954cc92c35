"""Every address of the dashboard, walked from the URL map: who may read it, who may send a form there, and what holds
for every page; the words and elements that programs go by."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver

from paraph.config import urls
from paraph.dashboard.branding import PARENT_POLICY
from paraph.dashboard.middleware import POLICY
from paraph.documents.models import Document
from paraph.drafts.models import Draft
from paraph.request_templates.models import Template
from paraph.signature_requests.models import Signer
from paraph.tenants.models import Activity, Application, BrandingProfile, Invitation, Member, Organization, Role
from tests.dashboard.conftest import LogIn, proved, read
from tests.dashboard.html_rules import broken_rules, row_count
from tests.dashboard.matrix import BESIDE_ORGANIZATIONS, FILES, FRESH, LISTS, MATRIX, PAGES, Row, addresses, names
from tests.dashboard.one_of_everything import Everything, one_of_everything
from tests.tenancy import create_organization

_FRAMING = ("new_profile", "profile", "profile_logo", "template", "bulk_upload", "bulk_send")
OWN_POLICIES = dict.fromkeys(_FRAMING, PARENT_POLICY) | {"request_everything": "default-src 'none'; sandbox"}
ANSWERED_OTHERWISE = {  # for ids that no row has, these forms lead back to the list, or show it with a sentence
    "delete_draft": 303,
    "remove_member": 422,
    "transfer_ownership": 422,
    "resend_invitation": 422,
    "withdraw_invitation": 422,
}
# Strangers get a page, or are sent on; members get a page, or are sent on; no form is taken without a token.
_ACCOUNT = {
    (302, 200): (
        "account account_logout account_reauthenticate account_email account_mails account_change_password "
        "mfa_index mfa_list_webauthn usersessions_list"
    ),
    (410, 410): "first_owner",
    (200, 302): "account_login account_signup",
    (200, 200): (
        "account_inactive account_email_verification_sent account_reset_password account_confirm_email "
        "account_reset_password_from_key_done account_reset_password_from_key account_reset_password_done"
    ),
    (302, 302): (
        "account_set_password account_confirm_login_code mfa_authenticate mfa_reauthenticate "
        "mfa_activate_totp mfa_generate_recovery_codes mfa_add_webauthn mfa_reauthenticate_webauthn "
        "mfa_remove_webauthn mfa_edit_webauthn mfa_login_webauthn"
    ),
    (302, 404): "mfa_deactivate_totp mfa_view_recovery_codes mfa_download_recovery_codes",
    (404, 404): "invitation",
}
ACCOUNT = {name: statuses for statuses, names in _ACCOUNT.items() for name in names.split()}


@pytest.fixture
def everything(log_in: LogIn) -> Everything:
    return one_of_everything(log_in)


def test_every_address_has_a_row() -> None:
    assert names() == set(MATRIX) | BESIDE_ORGANIZATIONS
    assert {name for name, _ in account_addresses()} == set(ACCOUNT)


_AT_LENGTH = [pytest.param(role, marks=pytest.mark.thorough) for role in (Role.OWNER, Role.ADMIN)]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.OBSERVER, *_AT_LENGTH])
def test_each_role_may_what_the_table_says(log_in: LogIn, everything: Everything, role: str) -> None:
    """The quick run takes the roles to which most is denied; other tests act as owners."""
    _, client = log_in(role, at=everything.organization)
    proved(client)
    wrong = []
    for name, address in everything.addresses().items():
        for method, expected in zip(("get", "post"), statuses(MATRIX[name], role), strict=True):
            with answered(client, method, address) as response:
                wrong += [] if response.status_code == expected else [(method, name, response.status_code)]
    assert not wrong, "\n".join(map(str, wrong))


def test_strangers_log_in_and_who_did_so_a_while_ago_says_again_who_they_are(
    log_in: LogIn, everything: Everything
) -> None:
    for name, address in everything.addresses().items():
        for method, status in (("get", 302), ("post", 303)):
            with answered(Client(), method, address) as response:
                assert response.status_code == status, (method, name)
                assert response.headers["Location"].startswith("/account/login/?next=/app/"), name
    _, client = log_in(Role.OWNER, at=everything.organization)
    proved(client, seconds_ago=301)
    asked = set()
    for name, address in everything.addresses().items():
        with answered(client, "post", address) as response:
            asked |= {name} if response.headers.get("Location", "").startswith("/account/reauthenticate/") else set()
    assert asked == FRESH


def test_there_is_nothing_for_members_of_other_organizations(log_in: LogIn, everything: Everything) -> None:
    elsewhere = create_organization("Elsewhere", "enterprise")
    _, client = log_in(Role.OWNER, at=elsewhere)
    proved(client)
    for name, address in everything.addresses().items():
        for method in ("get", "post"):
            with answered(client, method, address) as response:
                assert response.status_code == 404, (method, name)
    before, wrong = kept_rows(), []
    for name, address in everything.addresses(elsewhere.pk).items():
        if "_id>" not in addresses()[name].removeprefix("<int:organization_id>"):  # it names the organization alone
            continue
        for method, usual in (("get", MATRIX[name].read), ("post", MATRIX[name].sent)):
            expected = {ANSWERED_OTHERWISE.get(name, 404) if method == "post" else 404}
            expected |= {usual} & {303, 405} if method == "get" else set()  # answered without reading a row
            with answered(client, method, address) as response:
                wrong += [] if response.status_code in expected else [(method, name, response.status_code)]
                assert kept_rows() == before, name
    assert not wrong, "\n".join(map(str, wrong))


def test_no_form_is_taken_without_the_token_of_its_page(log_in: LogIn, everything: Everything) -> None:
    _, client = log_in(Role.OWNER, at=everything.organization)
    proved(client)
    before = kept_rows()
    everywhere = {**everything.addresses(), **dict(account_addresses()), "new_organization": "/app/new"}
    for name, address in everywhere.items():
        with answered(client, "post", address, enforce_csrf_checks=True) as response:
            assert response.status_code == 403, name
            assert b"This form has expired" in content(response), name
    assert kept_rows() == before


@pytest.mark.thorough
def test_pages_keep_the_rules_of_every_page(log_in: LogIn, everything: Everything) -> None:
    """The rules hold even where names that people chose contain HTML."""
    _, client = log_in(Role.OWNER, at=everything.organization)
    proved(client)
    hostile = "\"><script>alert(1)</script>'"
    for rows in (Organization, Application, Document, Template, BrandingProfile):
        rows.objects.update(name=hostile)
    Signer.objects.update(first_name=hostile, last_name="=HYPERLINK(1)")
    wrong: list[Any] = []
    for name, address in everything.addresses().items():
        for method in ("get", "post"):
            with answered(client, method, address) as response:
                wrong += [(name, method, rule) for rule in broken_headers(name, response)]
                if name in PAGES and response.headers["Content-Type"].startswith("text/html"):
                    page = content(response).decode()
                    wrong += [(name, method, rule) for rule in broken_rules(page)]
                    if name in LISTS and method == "get":
                        wrong += [] if row_count(page) else [(name, "an empty list")]
                    if response.status_code == 422 and 'role="alert"' not in page:
                        wrong.append((name, method, "errors without an alert"))
    assert not wrong, "\n".join(map(str, wrong))


def test_addresses_of_accounts(log_in: LogIn) -> None:
    _, client = log_in()
    proved(client)
    wrong: list[Any] = []
    for name, address in account_addresses():
        for who, visitor, expected in zip(("stranger", "member"), (Client(), client), ACCOUNT[name], strict=True):
            with answered(visitor, "get", address) as response:
                wrong += [] if response.status_code == expected else [(who, name, response.status_code)]
                wrong += [(who, name, rule) for rule in broken_headers(name, response)]
                if response.headers["Content-Type"].startswith("text/html"):
                    wrong += [(who, name, rule) for rule in broken_rules(content(response).decode())]
    assert not wrong, "\n".join(map(str, wrong))


def account_addresses() -> Iterator[tuple[str, str]]:
    """Yield names and addresses outside ``/app/``, from the URL map, with secrets that nobody has."""
    for pattern in urls.urlpatterns:
        if str(pattern.pattern).startswith(("account/", "invitations/")):
            yield from _filled([pattern], "/")


def _filled(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _filled(pattern.url_patterns, f"{before}{pattern.pattern}")
            continue
        route = before + str(pattern.pattern)
        for part in ("<str:token>", "<str:secret>", r"(?P<key>[-:\w]+)", r"(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)"):
            route = route.replace(part, "a-1")
        yield str(pattern.name), route.replace("<int:pk>", "1").replace("^", "").replace("$", "")


def statuses(row: Row, role: str) -> tuple[int, int]:
    may_read, may_send = role in row.readers.split(), role in row.senders.split()
    return row.read if may_read else 403, row.sent if may_send else 403


@contextmanager
def answered(client: Client, method: str, address: str, **of_client: Any) -> Iterator[HttpResponseBase]:
    """Yield the answer that this browser gets; whatever the call changed is undone."""
    visitor = Client(**of_client)
    visitor.cookies = SimpleCookie({name: morsel.value for name, morsel in client.cookies.items()})
    with transaction.atomic():
        response: Any = visitor.get(address) if method == "get" else visitor.post(address, {"entered": "nothing"})
        yield response
        if response.streaming:  # reading it to the end gives the thread's place back
            response.getvalue()
        transaction.set_rollback(True)


def broken_headers(name: str, response: HttpResponseBase) -> Iterator[str]:
    policy = response.headers["Content-Security-Policy"]
    if name == "branding_preview":  # framed by the pages of branding
        assert "script-src" not in policy and "form-action 'none'; frame-ancestors 'self'" in policy
    elif name == "template_mail" and response.status_code == 200:
        assert policy.startswith("sandbox; default-src 'none'; ") and "unsafe-inline" not in policy
        assert "frame-ancestors 'self'" in policy and "script" not in policy
    elif policy != (OWN_POLICIES.get(name, POLICY) if response.status_code in (200, 422) else POLICY):
        yield policy
    if name not in FILES and "no-store" not in response.headers["Cache-Control"]:
        yield response.headers["Cache-Control"]
    for cookie in response.cookies.values():
        if cookie.key not in (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME):
            yield f"a cookie {cookie.key}"
        if not cookie["httponly"] or cookie["samesite"] != "Lax" or cookie["domain"] or cookie["path"] != "/":
            yield str(cookie)


def content(response: Any) -> bytes:
    return bytes(response.content)


def kept_rows() -> list[Any]:
    """Return counts of rows that forms from outside the organization must not change."""
    open_invitations = Invitation.objects.filter(withdrawn_at=None, accepted_at=None).count()
    return [Draft.objects.count(), Member.objects.count(), open_invitations, Activity.objects.count()]


# The words and elements that programs go by when they use the dashboard. They stay as they are.
STEPS = ["Documents", "Signers", "Places", "Review"]
PRESSED = {
    "home": ["New request"],
    "requests": ["New request"],
    "drafts": ["New request"],
    "documents": ["New request", "Upload"],
    "applications": ["New application"],
    "application": ["Revoke"],
    "deliveries": ["Send a test"],
    "delivery": ["Send again"],
    "branding": ["New profile"],
    "members": ["Invite", "Resend", "Withdraw", "Remove"],
    "request": ["Remind", "Duplicate", "Withdraw"],
    "end_early": ["Withdraw request"],
    "extend_request": ["Save"],
    "correct_signer": ["Save correction"],
    "remind": ["Send reminder"],
    "draft_documents": [*STEPS, "Upload"],
    "draft_signers": [*STEPS, "Add signer"],
    "draft_places": [*STEPS, "Signature"],
    "draft_review": [*STEPS, "Send"],
    "settings": ["Delete organization"],
}
FIELDS = {
    "documents": ["PDF file"],
    "new_application": ["Name", "Environment", "Webhook URL"],
    "application": ["Application's name"],
    "new_profile": ["Name", "Background", "Text", "Accent"],
    "members": ["E-mail", "Role"],
    "draft_documents": ["PDF file"],
    "draft_signers": ["First name", "Last name", "E-mail", "Phone", "Send code by"],
    "draft_places": ["Page", "X", "Y", "Width", "Height"],
}


def test_buttons_fields_and_elements_that_programs_go_by(log_in: LogIn, everything: Everything) -> None:
    _, client = log_in(Role.OWNER, at=everything.organization)
    proved(client)
    addresses = everything.addresses()
    wrong = []
    for name in sorted({*PRESSED, *FIELDS}):
        page = read(client.get(addresses[name]))
        missing = set(PRESSED.get(name, [])) - pressed(page)
        missing |= {field for field in FIELDS.get(name, []) if not labels_a_control(field, page)}
        wrong += [(name, missing)] if missing else []
    assert not wrong
    assert "data-stamp>" in read(client.get(addresses["draft_places"]))
    assert all("<meter" in read(client.get(addresses[name])) for name in ("home", "plan", "draft_review"))
    page = read(Client().get("/account/login/"))
    assert 'name="login"' in page and 'name="password"' in page
    refused = read(Client().post("/account/login/", {"login": "a@example.com", "password": "x"}), 422)
    assert 'role="alert"' in refused


def pressed(page: str) -> set[str]:
    """Return the words on links and buttons, without those for screen readers alone, which come last."""
    inner = re.findall(r"<(?:button|a)\b[^>]*>(.*?)</(?:button|a)>", page, re.DOTALL)
    return {re.sub(r"<[^>]*>", "", text.partition('<span class="hidden">')[0]).strip() for text in inner}


def labels_a_control(words: str, page: str) -> bool:
    """Whether a control on the page has a label with exactly these words."""
    words = re.escape(words)
    return any(f'id="{each}"' in page for each in re.findall(rf'<label for="([^"]+)">{words}</label>', page))
