"""What a draft keeps of fields, roles and copies, which of two concurrent saves it keeps, and how long it is kept."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection, transaction

from paraph.documents.models import Document
from paraph.drafts import editing
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft, DraftDocument, Placed, Step
from paraph.drafts.review import missing
from paraph.flow.housekeeping.sweep import UNUSED_FOR, delete_unused_uploads, sweep
from paraph.kernel import clock
from paraph.signature_requests.fields.kinds import free_name
from tests.drafts import stored
from tests.drafts.author import IBAN, PLACE, SIGNED_ON, Author, asking, author

pytestmark = pytest.mark.django_db


def test_fields_are_those_of_the_payload(charles: Author) -> None:
    [entry] = creation_of(asking(charles, IBAN, SIGNED_ON).content)["documents"][0]["signers"]
    assert entry["fields"][0] == IBAN | {"placement": {"type": "coordinates", "value": PLACE}}
    assert [field["name"] for field in entry["fields"]] == ["IBAN", "Date"]
    assert len(entry["stamps"]) == 1


def test_a_draft_that_uses_none_of_it_says_none_of_it(charles: Author) -> None:
    said = creation_of(charles.draft().content)
    assert said["documents"][0]["signers"][0]["fields"] == [] and "role" not in said["signers"][0]
    assert "copies" not in said and said["decline_allowed"] is True  # as the dashboard begins drafts


def test_an_approver_is_on_each_document_with_nothing_to_fill_in(charles: Author) -> None:
    draft = asking(charles, IBAN, signers=2)
    first, second = draft.content["signers"]
    editing.replace_signers(draft, [first | {"role": "approver"}, second])
    said = creation_of(draft.content)
    assert [signer.get("role", "signer") for signer in said["signers"]] == ["approver", "signer"]
    assert said["documents"][0]["signers"][0] == {"signer_ref": "1. Ada Lovelace"}
    assert not stored.fields() and [stamp.signer.ref for stamp in stored.stamps()] == [second["ref"]]
    assert missing(draft).of(Step.PLACEMENTS) == []
    editing.replace_signers(draft, [each | {"role": "approver"} for each in (first, second)])
    assert missing(draft).of(Step.SIGNERS) == ["At least one person must sign, not only approve."]


def test_whoever_fills_in_a_document_signs_it_too(charles: Author) -> None:
    draft = asking(charles, IBAN)
    editing.attach(charles.scope, draft, [charles.document(name="rules.pdf").pk])
    [signer], rules = draft.signers, draft.files()[1]
    draft.place([*draft.places(), Placed(rules, signer, **PLACE, field=SIGNED_ON)])
    sentence = "Ada Lovelace has fields on rules.pdf, but no place to sign there yet."
    assert sentence in missing(draft).of(Step.PLACEMENTS)


def test_what_is_removed_leaves_nothing_behind(charles: Author) -> None:
    draft = asking(charles, IBAN | {"value": "DE02"}, signers=2)
    editing.replace_signers(draft, draft.content["signers"][1:])
    assert "DE02" not in str(Draft.objects.get().content) and len(stored.stamps()) == 1
    editing.keep_documents(draft, [])
    assert Draft.objects.get().content["documents"] == []


def test_names_that_are_taken_get_a_number() -> None:
    assert free_name("IBAN", []) == "IBAN"
    assert free_name("IBAN", ["IBAN", "IBAN-2"]) == "IBAN-3"
    assert free_name("x" * 100, ["x" * 100]) == "x" * 98 + "-2"


@pytest.mark.django_db(transaction=True)
def test_the_stamps_of_the_later_save_stand_alone() -> None:
    draft = author().draft()

    def save(x: float) -> None:
        [document], [signer] = draft.files(), draft.signers
        stamp = Placed(document, signer, page_number=1, x=x, y=50, width=200, height=80)
        editing.replace_places(Draft.objects.get(pk=draft.pk), [stamp])

    def save_later() -> None:
        save(2)
        connection.close()

    later = threading.Thread(target=save_later)
    with transaction.atomic():
        save(1)
        later.start()
        time.sleep(0.5)  # the later save waits for this transaction by now, or will find it done
    later.join()
    assert [stamp.x for stamp in stored.stamps()] == [2]


def test_drafts_go_after_90_days_and_their_documents_stay(monkeypatch: pytest.MonkeyPatch, charles: Author) -> None:
    old, sent, used = charles.draft(), charles.draft(), charles.draft()
    charles.send(sent)
    later = clock.now() + timedelta(days=90, minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    editing.touch(used)
    sweep()
    assert [draft.pk for draft in Draft.objects.all()] == [used.pk]
    assert Document.objects.count() == 3
    assert not DraftDocument.objects.filter(draft_id=old.pk).exists()


def test_an_upload_in_a_draft_is_used(charles: Author) -> None:
    charles.draft()
    charles.document()
    Document.objects.update(created_at=clock.now() - UNUSED_FOR - timedelta(days=1))
    assert delete_unused_uploads() == 1
    assert Document.objects.get().pk == DraftDocument.objects.get().document_id
