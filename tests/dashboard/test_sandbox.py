"""Production first, and the sandbox apart: one switch, and only for those who integrate."""

import re
from typing import Any

import pytest
from django.test import Client

from paraph.documents.models import Document
from paraph.drafts.models import blank
from paraph.request_templates.models import Template
from paraph.tenants.models import Role
from tests.dashboard.conftest import LogIn, proved, read, scene
from tests.dashboard.matrix import MATRIX, PAGES
from tests.dashboard.one_of_everything import one_of_everything
from tests.dashboard.test_requests import beside
from tests.factories import Scene
from tests.tenancy import create_application, create_organization

BAND = "Nothing signed here is legally binding."
INTEGRATES = [Role.OWNER, Role.ADMIN]


@pytest.fixture
def made(db: None) -> Scene:
    """A request of production; ``tried`` is one of the sandbox beside it."""
    return scene()


@pytest.fixture
def tried(made: Scene) -> Scene:
    create_application(made.request.organization_id, "sandbox", "trial")
    tried = beside(made, environment="sandbox")
    Document.objects.filter(pk=tried.request_documents[0].document_id).update(environment="sandbox")
    return tried


@pytest.fixture
def client(made: Scene, log_in: LogIn) -> Client:
    return log_in(at=made.request.organization)[1]


def at(made: Scene, page: str = "") -> str:
    return f"/app/{made.request.organization_id}/{page}"


def switched(client: Client, made: Scene, to: str = "sandbox", page: str = "") -> str:
    answer = client.post(at(made, "environment"), {"to": to, "page": page})
    assert answer.status_code == 303
    return answer.headers["Location"]


def shown(client: Client, made: Scene, page: str) -> tuple[set[int], bool]:
    """Return the ids in the list, and whether the band says that this is the sandbox."""
    text = read(client.get(at(made, page)))
    is_on = 'role="switch" aria-checked="true"' in text
    assert is_on is (BAND in text)
    return {int(found) for found in re.findall(r'<(?:tr|li) data-id="(\d+)"', text)}, is_on


def test_lists_show_the_environment_that_is_switched_on(made: Scene, tried: Scene, client: Client) -> None:
    documents = [each.request_documents[0].document_id for each in (made, tried)]
    ids = {"requests": (made.request.pk, tried.request.pk), "documents": documents}
    assert shown(client, made, "") == ({made.request.pk}, False)
    for page, (production, _sandbox) in ids.items():
        assert shown(client, made, page) == ({production}, False), page
    switched(client, made)
    for page, (_production, sandbox) in ids.items():
        assert shown(client, made, page) == ({sandbox}, True), page
    assert shown(client, made, "") == (set(), True)
    assert "trial" in read(client.get(at(made, "applications")))
    switched(client, made, "production")
    applications = read(client.get(at(made, "applications")))
    assert "trial" not in applications and "shop" in applications


def test_the_switch_is_of_one_organization_and_leads_back_to_the_list(made: Scene, log_in: LogIn) -> None:
    member, client = log_in(at=made.request.organization)
    here = at(made)
    elsewhere = create_organization("Elsewhere", "pro")
    member.user.memberships.create(organization=elsewhere, role=Role.OWNER)
    assert switched(client, made, page=f"{here}requests") == f"{here}requests"
    assert switched(client, made, page=f"{here}requests/7/verify") == f"{here}requests"
    for page in ("", here, "//evil.example/requests", f"{here}nowhere", "/account/", f"/app/{elsewhere.pk}/requests"):
        assert switched(client, made, page=page) == here
    assert BAND not in read(client.get(f"/app/{elsewhere.pk}/requests"))
    assert BAND in read(client.get(f"{here}requests"))


def test_a_link_to_something_of_the_other_environment_shows_that_environment(
    made: Scene, tried: Scene, client: Client
) -> None:
    assert shown(client, made, f"requests/{tried.request.pk}")[1]
    assert shown(client, made, "requests") == ({tried.request.pk}, True), "the list beside it"
    asks_again = {"HX-Request": "true"}
    client.get(at(made, f"requests/{made.request.pk}"), headers=asks_again)
    assert shown(client, made, "requests")[1], "an open page of the other one only asks again"
    assert shown(client, made, f"documents/{made.request_documents[0].document_id}")[1] is False
    assert shown(client, made, "requests") == ({made.request.pk}, False)


def test_templates_of_the_sandbox_are_read_and_sent_by_api_alone(made: Scene, log_in: LogIn, client: Client) -> None:
    template = Template.objects.create(
        organization=made.request.organization,
        environment="sandbox",
        name="Lease",
        content=blank() | {"signers": [{"ref": "0", "name": "Tenant"}]},
    )
    assert shown(client, made, "templates") == (set(), False)
    assert shown(client, made, f"templates/{template.pk}")[1]
    assert shown(client, made, "templates") == ({template.pk}, True)
    page = read(client.get(at(made, f"templates/{template.pk}")))
    assert "Who signs this time?" not in page and "Send to many" not in page
    for rest in ("", "/bulk"):
        assert client.post(at(made, f"templates/{template.pk}{rest}")).status_code == 404
    _, member = log_in(Role.MEMBER, at=made.request.organization)
    assert member.get(at(made, f"templates/{template.pk}")).status_code == 404


def test_nothing_is_begun_in_the_sandbox(made: Scene, tried: Scene, client: Client) -> None:
    """What members begin is of production, and buttons for it stand nowhere else."""
    switched(client, made)
    for page in ("", "requests", "documents", "drafts", f"documents/{tried.request_documents[0].document_id}"):
        text = read(client.get(at(made, page)))
        assert "New request" not in text and "data-upload" not in text and 'id="new-request"' not in text, page


@pytest.mark.parametrize("role", [role for role in Role if role not in INTEGRATES])
def test_who_does_not_integrate_has_no_sandbox(made: Scene, tried: Scene, log_in: LogIn, role: str) -> None:
    _, client = log_in(role, at=made.request.organization)
    assert client.post(at(made, "environment"), {"to": "sandbox"}).status_code == 403
    session = client.session
    session["sandbox"] = made.request.organization_id  # left from a time when they were an admin
    session.save()
    assert shown(client, made, "requests") == ({made.request.pk}, False)
    request, document = f"requests/{tried.request.pk}", f"documents/{tried.request_documents[0].document_id}"
    signer = f"{request}/signers/{tried.signers[0].pk}"
    pages = [f"{request}{rest}" for rest in ("", "/verify", "/everything.zip", "/proof")]
    pages += [f"{document}{rest}" for rest in ("", "/thumbnail.webp", "/pages/1.webp", "/pages/1-200.webp")]
    forms = []
    if role == Role.MEMBER:
        pages.append(f"{request}/template")
        forms = [f"{request}/sign", f"{request}/end", *(f"{signer}/{act}" for act in ("remind", "link", "here"))]
    proved(client)
    for page in pages:
        assert client.get(at(made, page)).status_code == 404, page
    for form in forms:
        assert client.post(at(made, form)).status_code == 404, form
    export: Any = client.post(at(made, "requests/export"))
    lines = export.getvalue().decode()
    assert "production" in lines and "sandbox" not in lines


@pytest.mark.parametrize(
    "role",
    [
        Role.ADMIN,
        Role.OBSERVER,
        *(pytest.param(role, marks=pytest.mark.thorough) for role in (Role.OWNER, Role.MEMBER)),
    ],
)
def test_only_who_integrates_reads_of_sandbox_and_developers(log_in: LogIn, role: str) -> None:
    everything = one_of_everything(log_in)
    _, client = log_in(role, at=everything.organization)
    proved(client)
    words: dict[str, Any] = {}
    for name, address in everything.addresses().items():
        if name in PAGES and role in MATRIX[name].readers.split():
            page = read(client.get(address)).replace('<iframe class="preview mail" sandbox', "")
            words[name] = [word for word in ("andbox", "Developers", "API reference") if word in page]
    assert len(words["home"]) == (3 if role in INTEGRATES else 0)
    assert role in INTEGRATES or not any(words.values()), words


def test_the_band_stands_on_every_page_but_over_what_is_of_production(made: Scene, client: Client) -> None:
    switched(client, made)
    for page in ("members", "settings", "plan", "activity", "branding", "applications/new"):
        assert shown(proved(client), made, page)[1], page
    assert BAND not in read(client.get("/account/"))
    draft = client.post(at(made, "drafts")).headers["Location"]
    request = at(made, f"requests/{made.request.pk}")
    for address in (draft, f"{request}/extend", f"{request}/signers/{made.signers[0].pk}/correct"):
        switched(client, made)
        assert BAND not in read(client.get(address)), address
