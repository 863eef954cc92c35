"""Changes of drafts."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Func, IntegerField, Max, QuerySet, Sum

from paraph.documents.models import Document, DocumentStatus
from paraph.drafts.models import Draft, DraftDocument, DraftField, DraftSigner, DraftStamp, Step
from paraph.kernel import clock
from paraph.signature_requests.fields.kinds import Kind, free_name
from paraph.signature_requests.input import DEFAULT_SIZE
from paraph.signature_requests.models import Role
from paraph.tenants.limits import oldest_beyond
from paraph.tenants.models import User
from paraph.tenants.retention import over
from paraph.tenants.scope import TenantScope, scoped

UNUSED_FOR = timedelta(days=90)
_STEPS = list(Step)
_LARGE = 100  # pages, or stamps and fields
_MARGIN = 40  # points between new stamps, and around them
_NARROWEST = 60  # points, for the names of small fields


def begin(scope: TenantScope, author: User, document_ids: Iterable[int] = (), locale: str = "en") -> Draft:
    """Make a draft with these documents; id of documents that are not the caller's are ignored. On the plan Free, open
    drafts that nobody has touched for longest make room beyond the operator's setting."""
    with transaction.atomic():
        opened = scoped(Draft, scope).filter(request=None).order_by("updated_at", "pk")
        Draft.objects.filter(pk__in=oldest_beyond(scope, opened, settings.PARAPH.kept_drafts)).delete()
        draft = Draft.objects.create(
            organization_id=scope.organization_id,
            environment=scope.environment,
            author=author,
            locale=locale,
            more_options={"decline_allowed": True},
        )
        attach(scope, draft, document_ids)
    return draft


@contextmanager
def held(draft: Draft) -> Iterator[None]:
    """Have the draft as it is now, and keep it from others who change, send or discard it. Raise ``Draft.DoesNotExist``
    where it is sent, discarded or gone by now."""
    still_open = Draft.objects.select_for_update(no_key=True).filter(request=None, discarded_at=None)
    with transaction.atomic():
        draft.refresh_from_db(from_queryset=still_open)
        yield


def attach(scope: TenantScope, draft: Draft, document_ids: Iterable[int]) -> None:
    """Add documents of the caller at the end, in this order; those that the draft has stay where they are."""
    wanted = list(dict.fromkeys(document_ids))
    found = set(
        scoped(Document, scope)
        .filter(pk__in=wanted, status=DocumentStatus.READY, file_deleted_at=None)
        .values_list("pk", flat=True)
    )
    known = set(draft.documents.values_list("document_id", flat=True))
    last = draft.documents.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    new = [pk for pk in wanted if pk in found and pk not in known]
    DraftDocument.objects.bulk_create(
        DraftDocument(draft=draft, document_id=pk, position=first + index) for index, pk in enumerate(new)
    )
    if new and not draft.places().stamps:
        draft.tags_placed = False
        draft.save(update_fields=["tags_placed"])
    touch(draft)


def keep_documents(draft: Draft, document_ids: Sequence[int]) -> None:
    """Remove the other documents with their stamps, and put these into this order."""
    with transaction.atomic():
        draft.documents.exclude(document_id__in=document_ids).delete()
        for position, pk in enumerate(document_ids):
            draft.documents.filter(document_id=pk).update(position=position)
        forget_places(draft)
        touch(draft)


def replace_signers(draft: Draft, signers: Sequence[DraftSigner]) -> None:
    """Make these the draft's signers, in this order. Stamps and fields of those that had an id already stay, but of
    those who approve now."""
    with transaction.atomic():
        draft.signers.exclude(pk__in=[signer.pk for signer in signers if signer.pk]).delete()
        for position, signer in enumerate(signers):
            signer.draft, signer.position = draft, position
            signer.save()
        forget_places(draft)
        touch(draft)


def replace_places(draft: Draft, stamps: Sequence[DraftStamp], fields: Sequence[DraftField] = ()) -> None:
    """Make these the draft's stamps and fields. Of two that come at once, the later one's stand alone."""
    with held(draft):
        draft.place(stamps, fields)
        touch(draft)


def forget_places(draft: Draft) -> None:
    """Take away what stands for documents and signers that the draft does not have any more, and for those who
    approve."""
    if draft.placed:
        stamps, fields = draft.places()
        draft.place(
            [stamp for stamp in stamps if stamp.signer.role == Role.SIGNER],
            [field for field in fields if field.signer.role == Role.SIGNER],
        )


def add_stamp(draft: Draft) -> None:
    """Add a stamp for the first signer who has none, on the last page of the first document, beside the stamps that
    stand there."""
    stamps, fields = draft.places()
    signing = draft.signers.filter(role=Role.SIGNER)
    signer = signing.exclude(pk__in=[stamp.signer.pk for stamp in stamps]).first() or signing.first()
    row = draft.documents.select_related("document").first()
    if signer is None or row is None:
        return
    there = _on_last_page(row, stamps)
    draft.place([*stamps, DraftStamp(document=row, signer=signer, **_free_place(row, there, DEFAULT_SIZE))], fields)
    touch(draft)


def add_field(draft: Draft, kind: Kind) -> None:
    """Add a field of the kind for the first who signs, on the last page of the first document, beside the fields that
    stand there, from the top."""
    signer = draft.signers.filter(role=Role.SIGNER).first()
    row = draft.documents.select_related("document").first()
    if signer is None or row is None:
        return
    stamps, fields = draft.places()
    place = _free_place(row, _on_last_page(row, fields), (max(kind.drawn[0], _NARROWEST), kind.drawn[1]))
    place |= {"y": row.document.pages[-1][1] - place["y"] - kind.drawn[1], "width": kind.drawn[0]}
    own = [field.content["name"] for field in fields if (field.document, field.signer) == (row, signer)]
    content = kind.content(free_name(str(kind.label), own))
    draft.place(stamps, [*fields, DraftField(document=row, signer=signer, content=content, **place)])
    touch(draft)


def _on_last_page(row: DraftDocument, placed: Sequence[DraftStamp]) -> int:
    return sum(each.document == row and each.page_number == len(row.document.pages) for each in placed)


def _free_place(row: DraftDocument, there: int, size: tuple[float, float]) -> dict[str, Any]:
    """Return the place on the last page for one more of the size, from the bottom left."""
    room_across, room_up = row.document.pages[-1]
    width, height = size
    columns = max(int((room_across - _MARGIN) // (width + _MARGIN)), 1)
    x = _MARGIN + there % columns * (width + _MARGIN)
    y = _MARGIN + there // columns * (height + _MARGIN)
    return {
        "page_number": len(row.document.pages),
        "x": max(min(x, room_across - width), 0),
        "y": max(min(y, room_up - height), 0),
        "width": width,
        "height": height,
    }


def touch(draft: Draft, step: Step | None = None) -> None:
    """Note that the draft is in use, and the step that was opened, if it is the farthest so far."""
    if step and _STEPS.index(step) > _STEPS.index(Step(draft.step)):
        draft.step = step
    draft.updated_at = clock.now()
    Draft.objects.filter(pk=draft.pk).update(step=draft.step, updated_at=draft.updated_at)


def is_large(draft: Draft) -> bool:
    """Whether its pages take a processor for longer than a plain page does: more than 100 pages, or stamps and
    fields."""
    length = Func("document__pages", function="jsonb_array_length", output_field=IntegerField())
    pages = draft.documents.aggregate(pages=Sum(length))["pages"] or 0
    placed = sum(len(one["stamps"]) + len(one["fields"]) for each in draft.placed for one in each["signers"])
    return max(pages, placed) > _LARGE


def open_drafts(scope: TenantScope) -> QuerySet[Draft]:
    """Return the caller's drafts that are neither sent nor discarded."""
    return scoped(Draft, scope).filter(request=None, discarded_at=None)


@transaction.atomic
def discard(drafts: QuerySet[Draft]) -> int:
    """Delete the open ones of these drafts, and leave of those that applications prepared what tells them so; return
    how many. Documents stay."""
    found = list(drafts.filter(request=None, discarded_at=None).select_for_update(of=("self",)))
    for draft in found:
        if draft.application_id is None:
            draft.delete()
        else:
            draft.discarded_at = clock.now()
            empty(draft)
    return len(found)


def empty(draft: Draft) -> None:
    """Save a draft that is over, and delete what it said of people and documents, and to people."""
    draft.title = draft.subject = draft.message = ""
    draft.more_options, draft.placed = {}, []
    draft.save(update_fields=["request", "discarded_at", "title", "subject", "message", "more_options", "placed"])
    draft.documents.all().delete()
    draft.signers.all().delete()


def delete_unused_drafts() -> int:
    """Discard the drafts that nobody has changed for 90 days, or as long as files are kept where that is shorter, and
    delete what is left of those that members began and sent so long ago; return how many. Documents stay."""
    count = 0
    for old in over(Draft.objects.all(), "updated_at", UNUSED_FOR):
        count += discard(old)
        sent = old.filter(application=None)
        count += sent.count()
        sent.delete()
    return count
