"""Drafts and requests become templates, and templates drafts."""

from dataclasses import replace
from typing import Any

import pytest

from paraph.drafts import editing
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft
from paraph.drafts.review import refusals
from paraph.request_templates.models import Template
from paraph.request_templates.saving import Names, begin_from, of_draft, of_request, save_template
from paraph.signature_requests.models import Field, Placement, SignatureRequest
from paraph.tenants.models import Activity
from tests.drafts.author import IBAN, PETS, SIGNED_ON, Author, asking
from tests.request_templates.kept import DEPOSIT, READ, template_asking

pytestmark = pytest.mark.django_db
NAMES = Names("Again", ["Tenant", "Landlord"])


def begun(charles: Author, template: Template) -> Draft:
    names = "ab"[: len(template.roles)]
    people = [{"first_name": name, "last_name": "X", "email": f"{name}@example.com"} for name in names]
    return begin_from(charles.scope, template, charles.member.user, people)


def of_request_of(charles: Author, draft: Draft) -> Template:
    request = SignatureRequest.objects.get(pk=charles.send(draft))
    names = NAMES._replace(roles=NAMES.roles[: len(draft.signers)])
    return save_template(charles.scope, of_request(request), charles.actor, names)


def fields_in(draft: Draft) -> list[dict[str, Any]]:
    """Return the fields of the first signer on the first document."""
    found: list[dict[str, Any]] = creation_of(draft.content)["documents"][0]["signers"][0]["fields"]
    return found


def test_a_template_keeps_everything_but_the_people(charles: Author) -> None:
    template = template_asking(charles)
    source = Draft.objects.get()
    kept = repr([*Template.objects.values()])
    assert "landlord" in kept.lower() and "ada" not in kept.lower() and "@" not in kept
    assert template.content["decline_allowed"] and "copies" not in template.content, "they go to people"
    draft = begun(charles, template)
    assert refusals(charles.scope, draft) == []
    again, first = creation_of(draft.content), creation_of(source.content)
    of_people = ("signers", "documents", "copies")
    assert [each["id"] for each in again["documents"]] == [each["id"] for each in first["documents"]]
    options = [{key: said[key] for key in said if key not in of_people} for said in (again, first)]
    assert options[0] == options[1]
    [tenant, approver], [asked, _] = (each["documents"][0]["signers"] for each in (again, first))
    assert (tenant["stamps"], tenant["fields"]) == (asked["stamps"], asked["fields"]) and len(tenant["fields"]) == 5
    assert approver == {"signer_ref": "2. b X"} and again["signers"][1]["role"] == "approver"
    assert (draft.name, draft.tags_placed) == ("Lease", True)
    assert [act.action for act in Activity.objects.all()] == ["template.saved"]


def test_a_sent_request_becomes_a_template_that_asks_the_same(charles: Author) -> None:
    source = asking(charles, IBAN, PETS, DEPOSIT | {"minimum": 0.5}, READ, SIGNED_ON, signers=2)
    signer, approver = source.content["signers"]
    editing.replace_signers(source, [signer, approver | {"role": "approver"}])
    first = fields_in(source)
    assert refusals(charles.scope, source) == []
    template = of_request_of(charles, source)
    names = ["IBAN", "Pets", "Deposit", "House rules", "Date"]
    assert [field.name for field in Field.objects.order_by("position")] == names
    assert [each["signer_ref"] for each in template.content["documents"][0]["signers"]] == ["0", "1"]
    sent = SignatureRequest.objects.get()
    assert sent.decline_allowed and list(sent.signers.values_list("role", flat=True)) == ["signer", "approver"]
    draft = begun(charles, template)
    assert refusals(charles.scope, draft) == []
    asked = fields_in(draft)
    kept, given = ([(each["name"], each["type"], each["placement"]) for each in fields] for fields in (asked, first))
    assert kept == given
    assert [field.get("minimum") for field in asked] == [None, None, 0.5, None, None]
    assert asked[1]["options"] == ["None", "A cat"] and asked[1]["required"] is False
    assert creation_of(draft.content)["decline_allowed"] is True
    stamps = [(at.signer.position, at.page_number, at.x, at.y) for at in draft.places() if at.field is None]
    placed = [(each.signer.order - 1, each.page_number, each.x, each.y) for each in Placement.objects.all()]
    assert sorted(stamps) == sorted(placed)


def test_a_template_keeps_what_signers_are_written(charles: Author) -> None:
    source = charles.draft()
    Draft.objects.update(subject="Your lease", message="Dear tenant")
    source.refresh_from_db()
    of_the_draft = save_template(charles.scope, of_draft(source), charles.actor, Names("Lease", ["Tenant"]))
    for template in (of_the_draft, of_request_of(charles, source)):
        draft = begun(charles, template)
        assert (draft.subject, draft.message) == ("Your lease", "Dear tenant")


def test_what_was_filled_in_beforehand_stays_with_the_request_and_its_sender_gives_it_anew(charles: Author) -> None:
    flat = {"name": "Flat", "type": "text", "required": True, "read_only": True, "value": "4b"}
    draft = begun(charles, of_request_of(charles, asking(charles, IBAN | {"value": "DE02"}, flat)))
    asked = fields_in(draft)
    assert ["value" in field for field in asked] == [False, False] and asked[1]["read_only"] is True
    [refusal] = refusals(charles.scope, draft)
    assert refusal.sentence == "“Flat” on contract.pdf needs a value, since signers cannot change it."
    *others, last = draft.places()
    draft.place([*others, replace(last, field={"value": "5c"} | (last.field or {}))])
    assert refusals(charles.scope, draft) == []
