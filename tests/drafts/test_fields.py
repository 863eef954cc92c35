"""Fields, roles and copies of a draft, as its payload has them."""

import pytest

from paraph.drafts import editing
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft, Placed, Step
from paraph.drafts.refusals import missing
from paraph.signature_requests.fields.kinds import free_name
from tests.drafts import stored
from tests.drafts.asked import IBAN, PLACE, SIGNED_ON, asking
from tests.drafts.author import author

pytestmark = pytest.mark.django_db


def test_fields_are_those_of_the_payload() -> None:
    charles = author()
    [entry] = creation_of(asking(charles, IBAN, SIGNED_ON).content)["documents"][0]["signers"]
    assert entry["fields"][0] == IBAN | {"placement": {"type": "coordinates", "value": PLACE}}
    assert [field["name"] for field in entry["fields"]] == ["IBAN", "Date"]
    assert len(entry["stamps"]) == 1


def test_a_draft_that_uses_none_of_it_says_none_of_it() -> None:
    charles = author()
    said = creation_of(charles.draft().content)
    assert said["documents"][0]["signers"][0]["fields"] == [] and "role" not in said["signers"][0]
    assert "copies" not in said and said["decline_allowed"] is True  # as the dashboard begins drafts


def test_an_approver_is_on_each_document_with_nothing_to_fill_in() -> None:
    charles = author()
    draft = asking(charles, IBAN, signers=2)
    first, second = draft.content["signers"]
    editing.replace_signers(draft, [first | {"role": "approver"}, second])
    said = creation_of(draft.content)
    assert [signer.get("role", "signer") for signer in said["signers"]] == ["approver", "signer"]
    assert said["documents"][0]["signers"][0] == {"signer_ref": "1. Ada Lovelace"}
    assert not stored.fields() and [stamp.signer.ref for stamp in stored.stamps()] == [second["ref"]]
    assert missing(draft).of(Step.PLACEMENTS) == []
    editing.replace_signers(draft, [each | {"role": "approver"} for each in (first, second)])
    assert missing(draft).of(Step.SIGNERS) == ["Somebody has to sign, and not only approve."]


def test_whoever_fills_in_a_document_signs_it_too() -> None:
    charles = author()
    draft = asking(charles, IBAN)
    editing.attach(charles.scope, draft, [charles.document(name="rules.pdf").pk])
    [signer], rules = draft.signers, draft.files()[1]
    draft.place([*draft.places(), Placed(rules, signer, **PLACE, field=SIGNED_ON)])
    sentence = "Ada Lovelace has fields on rules.pdf, but no place to sign there yet."
    assert sentence in missing(draft).of(Step.PLACEMENTS)


def test_what_is_removed_leaves_nothing_behind() -> None:
    charles = author()
    draft = asking(charles, IBAN | {"value": "DE02"}, signers=2)
    editing.replace_signers(draft, draft.content["signers"][1:])
    assert "DE02" not in str(Draft.objects.get().content) and len(stored.stamps()) == 1
    editing.keep_documents(draft, [])
    assert Draft.objects.get().content["documents"] == []


def test_names_that_are_taken_get_a_number() -> None:
    assert free_name("IBAN", []) == "IBAN"
    assert free_name("IBAN", ["IBAN", "IBAN-2"]) == "IBAN-3"
    assert free_name("x" * 100, ["x" * 100]) == "x" * 98 + "-2"
