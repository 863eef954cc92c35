"""Two organizations at the dashboard: one with something of everything, whose words are hostile, and another."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.attacks.at_the_dashboard import Person, begin
from tests.attacks.conftest import Target
from tests.dashboard.matrix import addresses
from tests.factories import pdf
from tests.scenarios.people import at, signer

SCRIPT = "\"><script>alert(1)</script>'"
FORMULA = "=HYPERLINK(1)"


@dataclass
class World:
    """Ada owns an organization with something of everything; Bob is a member of it, Cleo an admin; Eve owns another."""

    ada: Person
    bob: Person
    cleo: Person
    eve: Person
    own: int
    other: int
    template: str
    ids: dict[str, int]

    def address(self, name: str, organization: int) -> str:
        known = {**self.ids, "organization_id": organization}
        return "/app/" + re.sub(r"<int:(\w+)>", lambda found: str(known[found[1]]), addresses()[name])


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """Of its own for each file: once passwords were guessed there, it lets nobody from here log in."""
    return new_target(PARAPH_MESSAGES_PER_DESTINATION="0")


@pytest.fixture(scope="module")
def world(target: Target) -> Iterator[World]:
    made = _two_organizations(target)
    yield made
    for person in (made.ada, made.bob, made.cleo, made.eve):
        person.browser.close()


def _two_organizations(target: Target) -> World:
    made = target.commands(
        [
            ["organization", "create", SCRIPT, "--plan", "pro"],
            ["application", "create", "--organization", "{id}", "--environment", "sandbox", "--name", SCRIPT],
            ["organization", "create", "Elsewhere", "--plan", "pro"],
        ]
    )
    own, other = made[0]["id"], made[2]["id"]
    roles = [(own, "ada", "owner"), (own, "bob", "member"), (own, "cleo", "admin"), (other, "eve", "owner")]
    made_members = target.commands(
        [
            ["member", "create", "--organization", str(organization), "--email", f"{name}@ink.example", "--role", role]
            for organization, name, role in roles
        ]
    )
    people = [begin(target, member["link"], member["email"]) for member in made_members]
    template, ids = _filled(target, people[0], own, made[1])
    ids["member_id"] = made_members[1]["id"]
    ada, bob, cleo, eve = people
    return World(ada, bob, cleo, eve, own, other, template, ids)


def _filled(target: Target, ada: Person, own: int, application: dict[str, Any]) -> tuple[str, dict[str, int]]:
    """A request whose words are hostile, a draft, a template, an invitation and a branding profile."""
    backend = target.backend(application["api_key"])
    hostile = signer("ada", FORMULA, SCRIPT)
    stamps = {"signer_ref": "ada", "stamps": [at()]}
    document = backend.upload(pdf(), f"{FORMULA}{SCRIPT.replace('/', '')}.pdf")
    request = backend.create(
        mode="parallel", validity_days=1, signers=[hostile], documents=[{"id": document, "signers": [stamps]}]
    )
    base = f"/app/{own}"
    draft = ada.sent(f"{base}/drafts", {}).removesuffix("/documents")
    ada.sent(f"{draft}/documents", {"action": "upload"}, {"file": (f"{FORMULA}.pdf", pdf(), "application/pdf")})
    person = {"first_name": FORMULA, "last_name": SCRIPT, "email": "zoe@ink.example", "otp_channel": "email"}
    rows = {f"signer-0-{name}": value for name, value in person.items()}
    ada.sent(
        f"{draft}/signers",
        {"signer-TOTAL_FORMS": "1", "signer-INITIAL_FORMS": "0", "mode": "parallel", "action": "next", **rows},
    )
    page = ada.page(f"{draft}/places")
    who = _found(r'name="stamp-__prefix__-signer".*?value="(\d+)"', page)
    which = _found(r'data-document="(\d+)"', page)
    stamp = {"signer": who, "document": which, "page": 1, "x": 50, "y": 50, "width": 200, "height": 80}
    places = {f"stamp-0-{name}": value for name, value in stamp.items()}
    ada.sent(f"{draft}/places", {"stamp-TOTAL_FORMS": "1", "stamp-INITIAL_FORMS": "0", "action": "save", **places})
    template = ada.sent(f"{draft}/template", {"name": SCRIPT, "role-0": SCRIPT})
    colors = {"background_color": "#ffffff", "text_color": "#111111", "accent_color": "#1f4d8f"}
    profile = ada.sent(f"{base}/branding/new", {"name": SCRIPT, **colors})
    ada.sent(f"{base}/members", {"email": "new@ink.example", "role": "member"})
    invitation = _found(r"/members/invitations/(\d+)/withdraw", ada.page(f"{base}/members"))
    ids = {
        "application_id": application["id"],
        "key_id": 1,
        "delivery_id": 1,
        "placement_id": 1,
        "profile_id": _last(profile),
        "request_id": request["id"],
        "signer_id": request["signers"][0]["id"],
        "document_id": document,
        "draft_id": _last(draft),
        "invitation_id": int(invitation),
        "template_id": _last(template),
        "bulk_send_id": 1,
        **dict.fromkeys(("number", "zoom"), 1),
        **dict.fromkeys(("width", "height"), 200),
    }
    return template, ids


def _found(pattern: str, page: str) -> str:
    found = re.search(pattern, page, re.DOTALL)
    assert found, page
    return found[1]


def _last(path: str) -> int:
    return int(path.rpartition("/")[2])
