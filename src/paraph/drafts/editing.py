"""Changes of drafts."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Max

from paraph.documents.models import Document, DocumentStatus
from paraph.drafts.models import Draft, DraftDocument, DraftSigner, DraftStamp, Step
from paraph.kernel import clock
from paraph.members.models import User
from paraph.organizations.scope import Caller, scoped

UNUSED_FOR = timedelta(days=90)
_STEPS = list(Step)


def begin(caller: Caller, author: User, document_ids: Iterable[int] = (), locale: str = "en") -> Draft:
    """Makes a draft with these documents; ids of documents that are not the caller's are ignored."""
    with transaction.atomic():
        draft = Draft.objects.create(
            organization_id=caller.organization_id, environment=caller.environment, author=author, locale=locale
        )
        attach(caller, draft, document_ids)
    return draft


def attach(caller: Caller, draft: Draft, document_ids: Iterable[int]) -> None:
    """Adds documents of the caller at the end, in this order; those that the draft has stay where they are."""
    wanted = list(dict.fromkeys(document_ids))
    found = set(
        scoped(Document, caller).filter(pk__in=wanted, status=DocumentStatus.READY).values_list("pk", flat=True)
    )
    known = set(draft.documents.values_list("document_id", flat=True))
    last = draft.documents.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    new = [pk for pk in wanted if pk in found and pk not in known]
    DraftDocument.objects.bulk_create(
        DraftDocument(draft=draft, document_id=pk, position=first + index) for index, pk in enumerate(new)
    )
    if new and not DraftStamp.objects.filter(document__draft=draft).exists():
        draft.tags_placed = False
        draft.save(update_fields=["tags_placed"])
    touch(draft)


def keep_documents(draft: Draft, document_ids: Sequence[int]) -> None:
    """Removes the other documents with their stamps, and puts these into this order."""
    with transaction.atomic():
        draft.documents.exclude(document_id__in=document_ids).delete()
        for position, pk in enumerate(document_ids):
            draft.documents.filter(document_id=pk).update(position=position)
        touch(draft)


def replace_signers(draft: Draft, signers: Sequence[DraftSigner]) -> None:
    """Makes these the draft's signers, in this order. Stamps of those that had an id already stay."""
    with transaction.atomic():
        draft.signers.exclude(pk__in=[signer.pk for signer in signers if signer.pk]).delete()
        for position, signer in enumerate(signers):
            signer.draft, signer.position = draft, position
            signer.save()
        touch(draft)


def replace_stamps(draft: Draft, stamps: Sequence[DraftStamp]) -> None:
    """Makes these the draft's stamps."""
    with transaction.atomic():
        DraftStamp.objects.filter(document__draft=draft).delete()
        DraftStamp.objects.bulk_create(stamps)
        touch(draft)


def touch(draft: Draft, step: Step | None = None) -> None:
    """Notes that the draft is in use, and the step that was opened, if it is the farthest so far."""
    if step and _STEPS.index(step) > _STEPS.index(Step(draft.step)):
        draft.step = step
    draft.updated_at = clock.now()
    draft.save(update_fields=["step", "updated_at"])


def delete_unused() -> int:
    """Deletes the drafts that nobody has changed for 90 days, and what is left of those that were sent so long ago;
    returns how many. Documents stay."""
    old = Draft.objects.filter(updated_at__lt=clock.now() - UNUSED_FOR)
    count = old.count()
    old.delete()
    return count
