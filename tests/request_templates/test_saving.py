"""Drafts become templates, and templates drafts."""

import pytest

from paraph.drafts.models import Draft, DraftSigner
from paraph.drafts.payload import payload, refusals
from paraph.request_templates.content import of_draft, of_request
from paraph.request_templates.models import Template
from paraph.request_templates.saving import Names, begin_from, rename, save_template
from paraph.signature_requests.models import Placement, SignatureRequest
from paraph.tenants.models import Activity
from tests.drafts.author import Author, author
from tests.request_templates.kept import template_of

pytestmark = pytest.mark.django_db


def begun(charles: Author, template: Template) -> Draft:
    people = [
        DraftSigner(
            first_name=f"P{number}", last_name="X", email=f"p{number}@example.com", otp_channel=role.otp_channel
        )
        for number, role in enumerate(template.roles)
    ]
    return begin_from(charles.scope, template, charles.member.user, people)


def test_a_template_keeps_everything_but_the_people() -> None:
    charles = author()
    Draft.objects.all().delete()
    template = template_of(charles, roles=2)
    source = Draft.objects.get()
    draft = begun(charles, template)
    assert refusals(charles.scope, draft) == []
    again, first = payload(draft), payload(source)
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


def test_a_sent_request_becomes_the_same_template() -> None:
    charles = author()
    request = SignatureRequest.objects.get(pk=charles.send(charles.draft(signers=2)))
    names = Names("Again", ["Tenant", "Landlord"])
    template = save_template(charles.scope, of_request(request), charles.member.user, charles.actor, names)
    draft = begun(charles, template)
    assert refusals(charles.scope, draft) == []
    kept = [(each.signer.position, each.page_number, each.x, each.y) for each in draft.places().stamps]
    placed = [(each.signer.order - 1, each.page_number, each.x, each.y) for each in Placement.objects.all()]
    assert sorted(kept) == sorted(placed)


def test_a_template_keeps_what_signers_are_written() -> None:
    charles = author()
    source = charles.draft()
    Draft.objects.update(subject="Your lease", message="Dear tenant")
    source.refresh_from_db()
    names = Names("Lease", ["Tenant"])
    of_the_draft = save_template(charles.scope, of_draft(source), charles.member.user, charles.actor, names)
    request = SignatureRequest.objects.get(pk=charles.send(source))
    of_the_request = save_template(charles.scope, of_request(request), charles.member.user, charles.actor, names)
    for template in (of_the_draft, of_the_request):
        draft = begun(charles, template)
        assert (draft.subject, draft.message) == ("Your lease", "Dear tenant")


def test_names_change_and_nothing_else() -> None:
    template = template_of(author(), roles=2)
    rename(template, Names("Sale", ["Buyer", "Seller"]))
    assert [role.name for role in Template.objects.get().roles] == ["Buyer", "Seller"]
    assert Template.objects.get().name == "Sale"
