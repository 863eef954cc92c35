"""Drafts become templates, and templates drafts."""

import pytest

from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft
from paraph.drafts.review import refusals
from paraph.request_templates.models import Template
from paraph.request_templates.saving import Names, begin_from, changing, of_draft, of_request, rename, save_template
from paraph.signature_requests.fields.input import FieldInput, check_field
from paraph.signature_requests.models import Placement, SignatureRequest
from paraph.signature_requests.problems import Problems
from paraph.tenants.models import Activity
from tests.drafts.author import Author, author
from tests.factories import scene
from tests.request_templates.kept import template_of

pytestmark = pytest.mark.django_db


def begun(charles: Author, template: Template) -> Draft:
    people = [
        {
            "first_name": f"P{number}",
            "last_name": "X",
            "email": f"p{number}@example.com",
            "otp_channel": role.otp_channel,
        }
        for number, role in enumerate(template.roles)
    ]
    return begin_from(charles.scope, template, charles.member.user, people)


def test_a_template_keeps_everything_but_the_people(charles: Author) -> None:
    Draft.objects.all().delete()
    template = template_of(charles, roles=2)
    source = Draft.objects.get()
    draft = begun(charles, template)
    assert refusals(charles.scope, draft) == []
    again, first = creation_of(draft.content), creation_of(source.content)
    assert [document["id"] for document in again["documents"]] == [document["id"] for document in first["documents"]]
    assert {key: again[key] for key in again if key not in ("signers", "documents")} == {
        key: first[key] for key in first if key not in ("signers", "documents")
    }
    stamps = [
        [entry["stamps"] for document in each["documents"] for entry in document["signers"]] for each in (again, first)
    ]
    assert stamps[0] == stamps[1]
    assert (draft.name, draft.tags_placed) == ("Lease", True)
    assert [act.action for act in Activity.objects.all()] == ["template.saved"]


def test_a_template_holds_no_name_or_address() -> None:
    template_of(author(), roles=2)
    kept = repr([*Template.objects.values()])
    assert "landlord" in kept.lower() and "ada" not in kept.lower() and "@" not in kept


def test_a_sent_request_becomes_the_same_template(charles: Author) -> None:
    request = SignatureRequest.objects.get(pk=charles.send(charles.draft(signers=2)))
    names = Names("Again", ["Tenant", "Landlord"])
    template = save_template(charles.scope, of_request(request), charles.actor, names)
    draft = begun(charles, template)
    assert refusals(charles.scope, draft) == []
    kept = [(each.signer.position, each.page_number, each.x, each.y) for each in draft.places()]
    placed = [(each.signer.order - 1, each.page_number, each.x, each.y) for each in Placement.objects.all()]
    assert sorted(kept) == sorted(placed)


def test_a_template_keeps_what_signers_are_written(charles: Author) -> None:
    source = charles.draft()
    Draft.objects.update(subject="Your lease", message="Dear tenant")
    source.refresh_from_db()
    names = Names("Lease", ["Tenant"])
    of_the_draft = save_template(charles.scope, of_draft(source), charles.actor, names)
    request = SignatureRequest.objects.get(pk=charles.send(source))
    of_the_request = save_template(charles.scope, of_request(request), charles.actor, names)
    for template in (of_the_draft, of_the_request):
        draft = begun(charles, template)
        assert (draft.subject, draft.message) == ("Your lease", "Dear tenant")


def test_names_change_and_nothing_else(charles: Author) -> None:
    with changing(charles.scope, template_of(charles, roles=2).pk, charles.actor, "roles") as template:
        rename(template, Names("Sale", ["Buyer", "Seller"]), [{}, {}])
    assert [role.name for role in Template.objects.get().roles] == ["Buyer", "Seller"]
    assert Template.objects.get().name == "Sale"


def test_each_field_asks_the_same_again_and_no_value_goes_along() -> None:
    made = scene(
        fields=[
            {"type": "checkbox", "name": "box", "required": False, "read_only": True, "value": False},
            {"type": "text", "name": "flat", "read_only": True, "value": "4b"},
            {"type": "text", "name": "iban", "value": "DE02"},
            {"type": "number", "name": "rent", "minimum": "0", "maximum": "9.5"},
        ]
    )
    [document] = of_request(made.request).content["documents"]
    kept = document["signers"][0]["fields"]
    assert [(each.get("value"), each.get("read_only", False)) for each in kept] == [
        (None, True),
        (None, True),
        (None, False),
        (None, False),
    ]
    place = {"type": "coordinates", "value": {"page_number": 1, "x": 1, "y": 1}}
    problems = Problems()
    for each in kept:
        check_field(FieldInput.model_validate(each | {"placement": place}), each["name"], problems)
    assert [problem.path for problem in problems.named] == ["box.value", "flat.value"], "whoever sends it says these"
