"""A finished draft is kept, and sent again in three clicks."""

from typing import Any

import pytest
from django.test import Client

from paraph.dashboard.decorators import scope
from paraph.documents.models import Document
from paraph.drafts.models import Draft
from paraph.flow.sending.create import Sender
from paraph.flow.sending.drafts import send_draft
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import Template
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.admin_log import Actor
from paraph.tenants.models import Activity, ActorKind, Organization, Role
from tests.dashboard.conftest import LogIn, proved, read
from tests.dashboard.test_drafts import NOBODY, alert, begun, entered, options, person, ready, stamp
from tests.drafts import stored
from tests.factories import VISITOR

pytestmark = pytest.mark.django_db


def kept(client: Client, organization: Organization, **names: Any) -> str:
    """The address of a template with one role."""
    address, _ = ready(client, organization)
    answer = client.post(f"{address}/review", options(action="template"))
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{address}/template")
    page = read(client.get(f"{address}/template"))
    assert "Role of Ada Byron" in page and 'value="Signer 1"' in page and 'value="contract.pdf"' in page
    answer = client.post(f"{address}/template", {"name": "Lease", "role-0": "Tenant"} | names)
    assert answer.status_code == 303
    return str(answer.headers["Location"])


@pytest.fixture
def address(client: Client, organization: Organization) -> str:
    """The address of a template with one role."""
    return kept(client, organization)


def test_a_template_is_sent_in_three_clicks(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    address = kept(client, organization)
    listing = read(client.get(f"/app/{organization.pk}/templates"))
    assert f'href="{address}"' in listing and "Tenant" in listing
    assert "Tenant" in read(client.get(address))  # the first click chooses
    answer = client.post(address, entered("signer", person("Grace"), initial=1))  # the second goes on
    review = answer.headers["Location"]
    assert answer.status_code == 303 and review.endswith("/review")
    page = read(client.get(review))
    assert "grace@example.com" in page and 'role="alert"' not in page
    assert client.post(review, options()).status_code == 303  # the third sends
    request = SignatureRequest.objects.get()
    assert request.sent_by == member.user
    signer = request.signers.get()
    placement = signer.placements.get()
    assert (signer.email, placement.page_number, placement.y) == ("grace@example.com", 2, 60.5)


def test_every_role_needs_somebody(client: Client, address: str) -> None:
    Draft.objects.all().delete()
    assert "Signer 1: enter a first name." in alert(client.post(address, entered("signer", NOBODY, initial=1)))
    alert(client.post(address, entered("signer")))
    more = client.post(address, entered("signer", person("Grace"), person("Alan"), initial=1))
    assert more.status_code in (303, 422)
    assert "Alan" not in [signer.first_name for signer in stored.signers()]


def test_a_draft_that_cannot_be_sent_is_no_template(organization: Organization, client: Client) -> None:
    address = begun(client, organization)
    assert "cannot be saved as a template yet" in alert(client.post(f"{address}/template", {"name": "Lease"}))
    assert not Template.objects.exists()


def test_a_sent_request_can_be_kept(organization: Organization, client: Client) -> None:
    address, _ = ready(client, organization)
    sent = client.post(f"{address}/review", options()).headers["Location"]
    assert f'href="{sent}/template">Save as template</a>' in read(client.get(sent))
    assert "Role of Ada Byron" in read(client.get(f"{sent}/template"))
    answer = client.post(f"{sent}/template", {"name": "Lease", "role-0": "Tenant"})
    assert answer.headers["Location"] == f"/app/{organization.pk}/templates/{Template.objects.get().pk}"
    Document.objects.update(file_deleted_at="2026-01-01T00:00Z")
    assert client.get(f"{sent}/template").status_code == 404
    assert "Save as template" not in read(client.get(sent))


def test_names_are_changed_and_differ(client: Client, address: str) -> None:
    assert client.post(f"{address}/roles", {"name": "Sale", "role-0": "Buyer"}).headers["Location"] == address
    assert "Buyer" in read(client.get(address))
    alert(client.post(f"{address}/roles", {"name": "", "role-0": "Buyer"}))
    assert "letter or a number" in alert(client.post(f"{address}/roles", {"name": "Sale", "role-0": "!"}))


def test_a_template_is_deleted_and_drafts_of_it_stay(organization: Organization, client: Client, address: str) -> None:
    client.post(address, entered("signer", person("Grace"), initial=1))
    assert "Lease" in read(client.get(f"{address}/delete")) and Template.objects.exists()
    assert client.post(f"{address}/delete").headers["Location"] == f"/app/{organization.pk}/templates"
    assert client.get(address).status_code == 404
    assert "Grace" in [signer.first_name for signer in stored.signers()]


def test_what_is_written_to_signers_is_seen_and_changed(organization: Organization, client: Client) -> None:
    """Else a template made of a request could greet every tenant by the name of the first."""
    address, _ = ready(client, organization)
    said = {"subject": "Your lease", "message": "Dear Deniz, here it is."}
    sent = client.post(f"{address}/review", options(**said)).headers["Location"]
    form = read(client.get(f"{sent}/template"))
    assert "Dear Deniz, here it is." in form and 'value="Your lease"' in form
    template = client.post(f"{sent}/template", {"name": "Lease", "role-0": "Tenant", **said}).headers["Location"]
    page, mail = read(client.get(template)), client.get(f"{template}/mail")
    assert f"{organization.name}: Your lease" in page and f'src="{template}/mail"' in page
    assert "Dear Deniz, here it is." in read(mail) and "Hello <bdi>Tenant" in read(mail)
    policy = mail.headers["Content-Security-Policy"]
    assert "contract.pdf" in read(mail) and policy.count("'sha256-") > 5
    assert policy.startswith("sandbox; default-src 'none'; ") and "unsafe-inline" not in policy
    assert mail.headers["X-Frame-Options"] == "SAMEORIGIN"
    changed = options(subject="Lease of the flat", message="Please read it & sign.", validity_days="7")
    assert client.post(f"{template}/options", changed).headers["Location"] == template
    page = read(client.get(template))
    assert "Lease of the flat" in page and "After 7 days" in page and "Deniz" not in page
    alert(client.post(f"{template}/options", changed | {"validity_days": "0"}))
    review = client.post(template, entered("signer", person("Grace"), initial=1)).headers["Location"]
    for shown in (f"{template}/mail", review):
        assert "Please read it &amp; sign." in client.get(shown).content.decode()


def test_a_role_can_always_have_the_same_person(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in()
    address = kept(client, organization)
    names = {"name": "Lease", "role-0": "Landlord"}
    marta = {"person-0-first_name": "Marta", "person-0-last_name": "Brückner", "person-0-email": "marta@example.com"}
    assert "e-mail" in alert(client.post(f"{address}/roles", names | marta | {"person-0-email": "marta"})).lower()
    assert client.post(f"{address}/roles", names | marta).headers["Location"] == address
    page = read(client.get(address))
    assert "Always Marta Brückner" in page and 'name="signer-0-email"' not in page
    assert 'value="marta@example.com"' in read(client.get(f"{address}/roles"))
    assert "Landlord: E-mail" not in read(client.get(f"{address}/sample.csv"))
    review = client.post(address, {"signer-TOTAL_FORMS": "0", "signer-INITIAL_FORMS": "0"}).headers["Location"]
    assert client.post(review, options()).status_code == 303
    assert SignatureRequest.objects.get().signers.get().email == "marta@example.com"
    [act] = Activity.objects.filter(action="template.changed")
    assert (act.actor, act.after) == (member.user.email, {"changed": "roles"})
    client.post(f"{address}/roles", names)
    assert "Always" not in read(client.get(address))


def test_a_person_who_left_is_named(log_in: LogIn, organization: Organization, client: Client, address: str) -> None:
    colleague, _ = log_in(Role.MEMBER)
    of_role = {"first_name": "Marta", "last_name": "Brückner", "email": colleague.user.email}
    fields = {f"person-0-{name}": value for name, value in of_role.items()}
    client.post(f"{address}/roles", {"name": "Lease", "role-0": "Landlord", **fields})
    assert "no longer a member" not in read(client.get(address))
    assert proved(client).post(f"/app/{organization.pk}/members/{colleague.pk}/remove").status_code == 303
    assert "Marta Brückner, who always signs as “Landlord”, is no longer a member" in read(client.get(address))


def test_places_are_changed_in_the_editor_of_drafts(organization: Organization, client: Client, address: str) -> None:
    Draft.objects.all().delete()
    editor = client.post(f"{address}/places").headers["Location"]
    assert editor.endswith("/places") and client.post(f"{address}/places").headers["Location"] == editor
    for step in ("documents", "signers", "review"):
        assert client.get(editor.replace("/places", f"/{step}")).headers["Location"] == editor
    assert "Tenant" in read(client.get(editor))
    assert '/places"' not in read(client.get(f"/app/{organization.pk}/drafts"))
    assert "is not in the template yet" in read(client.get(address))
    row = stamp(Draft.objects.get(), page=1, y=200)
    assert client.post(editor, entered("stamp", row, initial=1) | {"action": "save"}).status_code == 303
    [place] = Template.objects.get().content["documents"][0]["signers"][0]["stamps"]
    assert place["value"]["y"] == 60.5, "it is not kept yet"
    assert client.post(editor, entered("stamp", row, initial=1) | {"action": "next"}).headers["Location"] == address
    template = Template.objects.get()
    [place] = template.content["documents"][0]["signers"][0]["stamps"]
    assert (place["value"]["page_number"], place["value"]["y"], template.places) == (1, 200, None)
    assert not Draft.objects.exists() and template.changed_at > template.created_at
    discarded = client.post(f"{address}/places").headers["Location"]
    assert client.post(discarded.replace("/places", "/delete")).headers["Location"] == address
    assert not Draft.objects.exists() and Template.objects.exists()


def test_places_of_a_template_are_never_sent(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in()
    address = kept(client, organization)
    Draft.objects.all().delete()
    client.post(f"{address}/places")
    with pytest.raises(DomainError, match="no such draft"):
        send_draft(scope(member), Draft.objects.get().pk, Sender(VISITOR, Actor(ActorKind.MEMBER, member.user_id)))
