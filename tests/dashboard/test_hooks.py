"""The words and elements that programs go by when they use the dashboard. They stay as they are."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from paraph.tenants.models import Role
from tests.dashboard.conftest import LogIn, proved
from tests.dashboard.one_of_everything import Everything, one_of_everything

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


@pytest.fixture
def pages(log_in: LogIn) -> Callable[[str], str]:
    everything: Everything = one_of_everything(log_in)
    _, client = log_in(Role.OWNER, at=everything.organization)
    addresses = everything.addresses()
    proved(client)

    def page(name: str) -> str:
        answer = client.get(addresses[name])
        assert answer.status_code == 200, name
        return answer.content.decode()

    return page


def test_buttons_fields_and_elements(pages: Callable[[str], str]) -> None:
    wrong = []
    for name in sorted({*PRESSED, *FIELDS}):
        page = pages(name)
        missing = set(PRESSED.get(name, [])) - pressed(page)
        missing |= {field for field in FIELDS.get(name, []) if not labels_a_control(field, page)}
        wrong += [(name, missing)] if missing else []
    assert not wrong
    assert "data-stamp>" in pages("draft_places")
    assert all("<meter" in pages(name) for name in ("home", "plan", "draft_review"))


def test_the_form_of_the_log_in(db: None) -> None:
    page = Client().get("/account/login/").content.decode()
    assert 'name="login"' in page and 'name="password"' in page
    for path in ("/account/logout/", "/account/reauthenticate/"):
        assert Client().get(path).status_code == 302
    refused = Client().post("/account/login/", {"login": "a@example.com", "password": "x"})
    assert refused.status_code == 422 and 'role="alert"' in refused.content.decode()


def test_secrets_are_marked(log_in: LogIn) -> None:
    member, client = log_in()
    form = {"name": "Shop", "environment": "sandbox", "webhook_url": ""}
    page = proved(client).post(f"/app/{member.organization_id}/applications/new", form).content.decode()
    assert re.findall(r'data-secret="(\w+)"', page) == ["api_key", "webhook_secret"]


def pressed(page: str) -> set[str]:
    """The words on links and buttons; what is said to screen readers alone comes after them."""
    inner = re.findall(r"<(?:button|a)\b[^>]*>(.*?)</(?:button|a)>", page, re.DOTALL)
    return {re.sub(r"<[^>]*>", "", text.partition('<span class="hidden">')[0]).strip() for text in inner}


def labels_a_control(words: str, page: str) -> bool:
    """Whether a label says just that, of a control that is there."""
    words = re.escape(words.replace("'", "&#x27;"))
    return any(f'id="{each}"' in page for each in re.findall(rf'<label for="([^"]+)">{words}</label>', page))
