"""Drafts that a program prepared: a member reviews them, and sends or discards them."""

import re
from typing import Any

import pytest
from django.conf import settings

from paraph.dashboard.decorators import scope
from paraph.drafts.models import Draft
from paraph.request_templates.models import Template
from paraph.request_templates.saving import begin_from
from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import BrandingProfile, Organization, Role
from tests.api.v1.api_clients import ApiClient, api_client, payload, rectangle
from tests.columns import columns
from tests.dashboard.conftest import LogIn, read
from tests.drafts import stored
from tests.tenancy import create_branding_profile

pytestmark = pytest.mark.django_db
OPTIONS = {"title": "", "locale": "en", "validity_days": 7, "action": "send"}


@pytest.fixture
def program(organization: Organization) -> ApiClient:
    return api_client("pro", "production", organization)


def prepared(program: ApiClient, request: dict[str, Any]) -> tuple[int, str]:
    """The id of the draft and the path of its address."""
    answer = program.post("/drafts", {"signature_request": request}).json()
    return answer["id"], answer["review_url"].removeprefix(settings.PARAPH.public_url)


def test_a_member_reviews_and_sends_it(log_in: LogIn, program: ApiClient) -> None:
    number, path = prepared(program, payload(program.document()))
    member, client = log_in(Role.MEMBER)
    shown = read(client.get(path))
    assert "shop prepared this request. Nothing is sent until you send it." in shown
    assert "Ada Lovelace" in shown and "grace@example.com" in shown and "cannot be sent yet" not in shown
    assert ">Send</button>" in shown and ">Discard</button>" in shown
    listed = read(client.get(f"/app/{member.organization_id}/drafts"))
    assert "<bdi>shop</bdi>" in listed and ">Discard</button>" in listed
    answer = client.post(path, OPTIONS)
    sent = SignatureRequest.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/app/{member.organization_id}/requests/{sent.pk}")
    assert sent.sent_by == member.user and sent.send_email
    assert program.get(f"/drafts/{number}").json()["signature_request_id"] == sent.pk
    assert client.get(path)["Location"] == f"/app/{member.organization_id}/requests/{sent.pk}"


def test_what_is_missing_is_shown_and_can_be_mended(log_in: LogIn, program: ApiClient) -> None:
    wanted = payload(program.document())
    wanted["signers"][0] = {"ref": "ada", "order": 1, "first_name": "Ada"}
    wanted["signers"].append({"order": 3})
    _number, path = prepared(program, wanted)
    _member, client = log_in(Role.MEMBER)
    shown = read(client.get(path))
    assert "This request cannot be sent yet" in shown
    signers = path.replace("review", "signers")
    assert f'href="{signers}#id_signer-0-last_name"' in shown and f'href="{signers}#id_signer-2-first_name"' in shown
    for sentence in (
        "Ada still lacks: Last name, E-mail.",
        "Signer 3 still lacks: First name, Last name, E-mail.",
        "Signer 3 has no place to sign yet.",
    ):
        assert sentence in shown
    assert "Ada still lacks" in read(client.post(path, OPTIONS), 422)
    assert not SignatureRequest.objects.exists()
    for step in ("documents", "signers", "places"):
        assert "shop prepared this request" in read(client.get(path.replace("review", step)))
    draft = Draft.objects.get()
    ada, grace, _nobody = draft.content["signers"]
    stored.change(draft, signers=[ada | {"last_name": "Lovelace", "email": "ada@example.com"}, grace])
    assert client.post(path, OPTIONS).status_code == 303


def test_nothing_at_all_is_a_draft_too(log_in: LogIn, program: ApiClient) -> None:
    _number, path = prepared(program, {})
    _member, client = log_in(Role.MEMBER)
    shown = read(client.get(path))
    assert "Add a document first." in shown and "Add a signer first." in shown
    for step in ("documents", "signers"):
        read(client.get(path.replace("review", step)))
    assert client.get(path.replace("review", "places"))["Location"] == path.replace("review", "documents")


def test_a_member_discards_it(log_in: LogIn, program: ApiClient) -> None:
    number, path = prepared(program, payload(program.document()))
    member, client = log_in(Role.MEMBER)
    drafts = f"/app/{member.organization_id}/drafts"
    Draft.objects.update(title="Lease of Lovelace")
    answer = client.post(f"{drafts}/{number}/delete")
    assert (answer.status_code, answer["Location"]) == (303, drafts)
    assert "The draft was discarded." in read(client.get(drafts))
    assert f'data-id="{number}"' not in read(client.get(drafts))
    said = program.get(f"/drafts/{number}").json()
    assert (said["status"], said["signature_request_id"]) == ("discarded", None)
    assert "The draft was discarded." in read(client.get(path), 410)
    assert client.post(path, OPTIONS).status_code == 410
    assert client.post(f"{drafts}/{number}/template").status_code == 410
    assert not SignatureRequest.objects.exists()
    draft = Draft.objects.get(pk=number)
    assert not draft.documents.exists() and (draft.title, draft.content) == ("", {})


def test_one_without_invitations_says_so(log_in: LogIn, program: ApiClient) -> None:
    _number, path = prepared(program, payload(program.document(), send_email=False))
    _member, client = log_in(Role.MEMBER)
    shown = read(client.get(path))
    assert "The service sends no invitations: the application hands out the signing links itself." in shown
    assert 'name="subject"' not in shown and 'name="message"' not in shown and "Remind every" not in shown
    assert client.post(path, OPTIONS).status_code == 303
    assert not SignatureRequest.objects.get().send_email


def test_drafts_of_members_have_no_such_words(log_in: LogIn, organization: Organization) -> None:
    _member, client = log_in(Role.MEMBER)
    drafts = f"/app/{organization.pk}/drafts"
    shown = read(client.get(client.post(drafts)["Location"].replace("documents", "review")))
    assert "prepared this request" not in shown and "Discard" not in shown
    assert "Delete" in read(client.get(drafts))


PERSON = {"ref": "ada", "order": 1, "first_name": "Augusta", "last_name": "Kingsley", "email": "kingsley@example.com"}
FIELD = {"type": "text", "name": "street", "value": "9 Kingsley Row", "placement": {"type": "coordinates"}}
FIELD["placement"] |= {"value": {"page_number": 1, "x": 50, "y": 50}}  # type: ignore[operator]
SAID: dict[str, tuple[Any, str]] = {
    "mode": ("sequential", "one after the other"),
    "validity_days": (7, 'name="validity_days" value="7"'),
    "send_email": (True, ">Send to <small>"),
    "identity_declaration_accepted": (True, "By sending, you confirm that you know who the signers are"),
    "initials_required": (True, 'name="initials_required" id="id_initials_required" checked'),
    "notify_signers_on_completion": (True, 'id="id_notify_signers_on_completion" checked'),
    "callback_url": ("https://hooks.example/Kingsley", 'value="https://hooks.example/Kingsley"'),
    "branding_profile_id": (0, 'selected>Kingsley'),
    "external_id": ("kingsley-4711", 'name="external_id" value="kingsley-4711"'),
    "metadata": ({"tenant": "Kingsley, A."}, "tenant: Kingsley, A.</textarea>"),
    "redirect_url": ("https://ex\u0430mple.com/kingsley", "<bdi>https://xn--exmple-4nf.com/kingsley</bdi>"),
    "reminders": ({"every_days": 3, "at_most": 4}, 'name="remind_every_days" value="3"'),
    "copies": ([{**PERSON, "email": "copy@kingsley.example"}], "copy@kingsley.example"),
    "decline_allowed": (True, 'id="id_decline_allowed" checked'),
    "signers": ([PERSON | {"phone": "+33612345678"}], "kingsley@example.com · +33612345678"),
    "documents": ([], "contract.pdf"),
}  # fmt: skip
"""All that a program can say, and how Review shows it."""


def everything(program: ApiClient) -> dict[str, Any]:
    assert program.organization
    said = {name: value for name, (value, _) in SAID.items()}
    said["branding_profile_id"] = create_branding_profile(program.organization.pk, "Kingsley").pk
    assignment = {"signer_ref": "ada", "stamps": [rectangle()], "fields": [FIELD]}
    said["copies"] = [{name: PERSON[name] for name in ("first_name", "last_name")} | {"email": "copy@kingsley.example"}]
    return said | {"documents": [{"id": program.document(), "signers": [assignment]}]}


def test_review_shows_all_that_a_program_said(log_in: LogIn, program: ApiClient) -> None:
    assert set(SAID) == set(SignatureRequestInput.model_fields)
    _number, path = prepared(program, everything(program))
    shown = read(log_in(Role.MEMBER)[1].get(path))
    assert [name for name, (_, text) in SAID.items() if text not in shown] == []
    assert "cannot be sent yet" not in shown


def test_a_template_of_it_keeps_nothing_that_is_of_its_people(log_in: LogIn, program: ApiClient) -> None:
    number, path = prepared(program, everything(program))
    member, client = log_in(Role.MEMBER)
    BrandingProfile.objects.update(name="Harbour")
    template = f"/app/{member.organization_id}/drafts/{number}/template"
    assert "belongs to this request and is not kept" in read(client.get(template))
    made = client.post(template, {"name": "Lease", "role-0": "Tenant"})
    assert made.status_code == 303, made.content.decode()
    kept = [
        (table, column, value)
        for table, column, value in columns()
        if table.startswith("request_templates_") and re.search("kingsley|augusta|336123|example|xn--", value, re.I)
    ]
    saved = Template.objects.get()
    assert kept == [] and [field["name"] for field in saved.fields_of(saved.roles[0])] == ["street"]
    own = ("mode", "validity_days", "initials_required", "notify_signers_on_completion", "branding_profile_id")
    assert set(saved.content) == {*own, "decline_allowed", "reminders", "signers", "documents"}
    eve = {"first_name": "Eve", "last_name": "Adams", "email": "eve@other.test"}
    draft = begin_from(scope(member), Template.objects.get(), member.user, [eve])
    shown = read(client.get(path.replace(f"/{number}/", f"/{draft.pk}/")))
    assert "Eve Adams" in shown and "kingsley" not in shown.lower()
