"""What is not used any more goes; what is used stays."""

from datetime import timedelta

import pytest

from paraph.documents.models import Document
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftDocument
from paraph.flow.housekeeping.sweep import sweep
from paraph.flow.housekeeping.unused_documents import UNUSED_FOR, delete_unused_uploads
from paraph.kernel import clock
from tests.drafts.author import author

pytestmark = pytest.mark.django_db


def test_drafts_go_after_90_days_and_their_documents_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    charles = author()
    old, sent, used = charles.draft(), charles.draft(), charles.draft()
    charles.send(sent)
    later = clock.now() + timedelta(days=90, minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    editing.touch(used)
    sweep()
    assert [draft.pk for draft in Draft.objects.all()] == [used.pk]
    assert Document.objects.count() == 3
    assert not DraftDocument.objects.filter(draft_id=old.pk).exists()


def test_an_upload_in_a_draft_is_used() -> None:
    charles = author()
    charles.draft()
    charles.document()
    Document.objects.update(created_at=clock.now() - UNUSED_FOR - timedelta(days=1))
    assert delete_unused_uploads() == 1
    assert Document.objects.get().pk == DraftDocument.objects.get().document_id
