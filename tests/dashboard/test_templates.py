"""A finished draft is kept, and sent again in three clicks."""

from typing import Any

import pytest
from django.test import Client

from paraph.drafts.models import Draft
from paraph.request_templates.models import Template
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Organization, Role
from tests.dashboard.conftest import LogIn
from tests.dashboard.test_drafts import alert, begun, entered, options, person, ready
from tests.drafts import stored
from tests.tenancy import create_organization

pytestmark = pytest.mark.django_db


def kept(client: Client, organization: Organization, **names: Any) -> str:
    """The address of a template with one role."""
    address, _ = ready(client, organization)
    answer = client.post(f"{address}/review", options(action="template"))
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{address}/template")
    page = client.get(f"{address}/template").content.decode()
    assert "Role of Ada Byron" in page and 'value="Signer 1"' in page and 'value="contract.pdf"' in page
    answer = client.post(f"{address}/template", {"name": "Lease", "role-0": "Tenant"} | names)
    assert answer.status_code == 303
    return str(answer.headers["Location"])


def test_a_template_is_sent_in_three_clicks(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    address = kept(client, organization)
    listing = client.get(f"/app/{organization.pk}/templates").content.decode()
    assert f'href="{address}"' in listing and "Tenant" in listing
    assert "Tenant" in client.get(address).content.decode()  # the first click chooses
    answer = client.post(address, entered("signer", person("Grace"), initial=1))  # the second goes on
    review = answer.headers["Location"]
    assert answer.status_code == 303 and review.endswith("/review")
    page = client.get(review).content.decode()
    assert "grace@example.com" in page and 'role="alert"' not in page
    assert client.post(review, options()).status_code == 303  # the third sends
    request = SignatureRequest.objects.get()
    assert request.sent_by == member.user
    signer = request.signers.get()
    placement = signer.placements.get()
    assert (signer.email, placement.page_number, placement.y) == ("grace@example.com", 2, 60.5)


def test_every_role_needs_somebody(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in()
    address = kept(client, organization)
    Draft.objects.all().delete()
    blank = {"first_name": "", "last_name": "", "email": ""}
    assert "required" in alert(client.post(address, entered("signer", person("", **blank), initial=1)))
    alert(client.post(address, entered("signer")))
    more = client.post(address, entered("signer", person("Grace"), person("Alan"), initial=1))
    assert more.status_code in (303, 422)
    assert "Alan" not in [signer.first_name for signer in stored.signers()]


def test_a_draft_that_cannot_be_sent_is_no_template(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in()
    address = begun(client, organization)
    assert "cannot be saved as a template yet" in alert(client.post(f"{address}/template", {"name": "Lease"}))
    assert not Template.objects.exists()


def test_a_sent_request_can_be_kept(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in()
    address, _ = ready(client, organization)
    sent = client.post(f"{address}/review", options()).headers["Location"]
    assert f'href="{sent}/template">Save as template</a>' in client.get(sent).content.decode()
    assert "Role of Ada Byron" in client.get(f"{sent}/template").content.decode()
    answer = client.post(f"{sent}/template", {"name": "Lease", "role-0": "Tenant"})
    assert answer.headers["Location"] == f"/app/{organization.pk}/templates/{Template.objects.get().pk}"
    SignatureRequest.objects.get().request_documents.get().document.__class__.objects.update(
        file_deleted_at="2026-01-01T00:00Z"
    )
    assert client.get(f"{sent}/template").status_code == 404
    assert "Save as template" not in client.get(sent).content.decode()


def test_names_are_changed_and_differ(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in()
    address = kept(client, organization)
    assert client.post(f"{address}/roles", {"name": "Sale", "role-0": "Buyer"}).headers["Location"] == address
    assert "Buyer" in client.get(address).content.decode()
    alert(client.post(f"{address}/roles", {"name": "", "role-0": "Buyer"}))
    assert "letter or a number" in alert(client.post(f"{address}/roles", {"name": "Sale", "role-0": "!"}))


def test_a_template_is_deleted_and_drafts_of_it_stay(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in()
    address = kept(client, organization)
    client.post(address, entered("signer", person("Grace"), initial=1))
    assert "Lease" in client.get(f"{address}/delete").content.decode() and Template.objects.exists()
    assert client.post(f"{address}/delete").headers["Location"] == f"/app/{organization.pk}/templates"
    assert client.get(address).status_code == 404
    assert "Grace" in [signer.first_name for signer in stored.signers()]


def test_strangers_and_observers_see_no_template(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in()
    address = kept(client, organization)
    pk = Template.objects.get().pk
    draft = Draft.objects.get().pk
    elsewhere = create_organization("Elsewhere", "pro")
    _, stranger = log_in(at=elsewhere)
    _, observer = log_in(Role.OBSERVER)
    for rest in ("", "/roles", "/delete", "/bulk", "/sample.csv"):
        for act in ("get", "post"):
            assert getattr(stranger, act)(f"{address}{rest}").status_code == 404
            assert getattr(stranger, act)(f"/app/{elsewhere.pk}/templates/{pk}{rest}").status_code == 404
            assert getattr(observer, act)(f"{address}{rest}").status_code == 403
    assert stranger.post(f"/app/{elsewhere.pk}/drafts/{draft}/template", {"name": "x"}).status_code == 404
    assert "Lease" not in stranger.get(f"/app/{elsewhere.pk}/templates").content.decode()
    assert observer.get(f"/app/{organization.pk}/templates").status_code == 403
    assert Template.objects.count() == 1
