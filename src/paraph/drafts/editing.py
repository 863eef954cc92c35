"""Changes to drafts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Func, IntegerField, Max, QuerySet, Sum

from paraph.documents.models import Document, DocumentStatus
from paraph.drafts.models import Draft, DraftDocument, Json, Placed, Step, blank
from paraph.kernel import clock
from paraph.signature_requests.fields.kinds import Kind, free_name
from paraph.tenants.lifecycle import over
from paraph.tenants.limits import oldest_beyond
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope, scoped

UNUSED_FOR = timedelta(days=90)
STAMP_SIZE = (160.0, 56.0)  # of a new stamp, in points: contracts have less room than the API's default takes
_STEPS = list(Step)
_LARGE = 100  # pages, or stamps and fields
_MARGIN = 40  # points between new stamps, and around them
_NARROWEST = 60  # points, for the names of small fields


def begin(
    scope: TenantScope,
    author: User,
    document_ids: Iterable[int] = (),
    locale: str = "en",
    defaults: Mapping[str, Any] | None = None,
) -> Draft:
    """Make a draft with these documents; ids of documents that are not the caller's are ignored. ``defaults``: options,
    ``locale`` and ``message`` to begin with. On the plan Free, the open drafts that have been untouched for longest are
    deleted, as far as the operator's setting asks for it."""
    said = {"locale": locale, "message": "", **(defaults or {})}
    options = {name: each for name, each in said.items() if name not in ("locale", "message")}
    with transaction.atomic():
        opened = scoped(Draft, scope).filter(request=None).order_by("updated_at", "pk")
        Draft.objects.filter(pk__in=oldest_beyond(scope, opened, settings.PARAPH.kept_drafts)).delete()
        draft = Draft.objects.create(
            **scope.columns,
            author=author,
            locale=said["locale"],
            message=said["message"],
            content={**blank(), "decline_allowed": True, **options},
        )
        attach(scope, draft, document_ids)
    return draft


@contextmanager
def held(draft: Draft) -> Iterator[None]:
    """Reload the draft, and lock it against others who change, send or discard it. Raise ``Draft.DoesNotExist`` where
    it has been sent, discarded or deleted meanwhile."""
    still_open = Draft.objects.select_for_update(no_key=True).filter(request=None, discarded_at=None)
    with transaction.atomic():
        draft.refresh_from_db(from_queryset=still_open)
        yield


def attach(scope: TenantScope, draft: Draft, document_ids: Iterable[int]) -> None:
    """Add documents of the caller at the end, in this order; those that the draft has stay where they are."""
    wanted = list(dict.fromkeys(document_ids))
    usable = scoped(Document, scope).filter(pk__in=wanted, status=DocumentStatus.READY, file_deleted_at=None)
    found = set(usable.values_list("pk", flat=True))
    known = set(draft.documents.values_list("document_id", flat=True))
    last = draft.documents.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    new = [pk for pk in wanted if pk in found and pk not in known]
    DraftDocument.objects.bulk_create(
        DraftDocument(draft=draft, document_id=pk, position=first + index) for index, pk in enumerate(new)
    )
    if new:
        draft.tags_placed &= any(one["stamps"] for each in draft.content["documents"] for one in each["signers"])
        draft.content["documents"] += [{"id": pk, "signers": []} for pk in new]
        draft.save(update_fields=["tags_placed", "content"])
    touch(draft)


def keep_documents(draft: Draft, document_ids: Sequence[int]) -> None:
    """Keep only these documents, in this order, and remove the others with their stamps."""
    with transaction.atomic():
        draft.documents.exclude(document_id__in=document_ids).delete()
        for position, pk in enumerate(document_ids):
            draft.documents.filter(document_id=pk).update(position=position)
        known = {each["id"]: each for each in draft.content["documents"]}
        draft.content["documents"] = [known[pk] for pk in document_ids]
        draft.save(update_fields=["content"])
        touch(draft)


def replace_signers(draft: Draft, signers: Sequence[Json]) -> None:
    """Make these the draft's signers, in this order. Those whose refs the draft knows keep their stamps and fields,
    except those who approve now."""
    draft.content["signers"] = list(signers)
    signing = {signer.ref for signer in draft.signing}
    for document in draft.content["documents"]:
        document["signers"] = [each for each in document["signers"] if each["signer_ref"] in signing]
    draft.save(update_fields=["content"])
    touch(draft)


def replace_places(draft: Draft, places: Iterable[Placed]) -> None:
    """Make these the draft's stamps and fields. Of two calls at once, the later one replaces what the earlier saved."""
    with held(draft):
        draft.place(places)
        touch(draft)


def add_stamp(draft: Draft) -> None:
    """Add a stamp for the first signer who has none, on the last page of the first document, beside the stamps that
    stand there."""
    places = draft.places()
    stamped = {each.signer for each in places if each.field is None}
    free = [signer for signer in draft.signing if signer not in stamped] or draft.signing
    document = next(iter(draft.files()), None)
    if not free or document is None:
        return
    there = _on_last_page(document, places, fields=False)
    draft.place([*places, Placed(document, free[0], *_free_place(document, there, STAMP_SIZE))])
    touch(draft)


def add_field(draft: Draft, kind: Kind) -> None:
    """Add a field of the kind for the first who signs, on the last page of the first document, beside the fields that
    stand there, from the top."""
    signer, document = next(iter(draft.signing), None), next(iter(draft.files()), None)
    if signer is None or document is None:
        return
    places, (width, height) = draft.places(), kind.drawn
    there = _on_last_page(document, places, fields=True)
    page, x, y, *_ = _free_place(document, there, (max(width, _NARROWEST), height))
    own = [each.field["name"] for each in places if each.field and (each.document, each.signer) == (document, signer)]
    asked = kind.content(free_name(str(kind.label), own))
    draft.place([*places, Placed(document, signer, page, x, document.pages[-1][1] - y - height, width, height, asked)])
    touch(draft)


def _on_last_page(document: Document, places: Iterable[Placed], *, fields: bool) -> int:
    last = (document, len(document.pages))
    return sum((each.document, each.page_number) == last and (each.field is not None) == fields for each in places)


def _free_place(document: Document, there: int, size: tuple[float, float]) -> tuple[int, float, float, float, float]:
    """Return the place on the last page for one more of the size, from the bottom left: page, x, y, width, height."""
    room_across, room_up = document.pages[-1]
    width, height = size
    columns = max(int((room_across - _MARGIN) // (width + _MARGIN)), 1)
    x = _MARGIN + there % columns * (width + _MARGIN)
    y = _MARGIN + there // columns * (height + _MARGIN)
    return len(document.pages), max(min(x, room_across - width), 0), max(min(y, room_up - height), 0), width, height


def touch(draft: Draft, step: Step | None = None) -> None:
    """Note that the draft is in use, and the step that was opened, if it is the farthest so far."""
    if step and _STEPS.index(step) > _STEPS.index(Step(draft.step)):
        draft.step = step
    draft.updated_at = clock.now()
    Draft.objects.filter(pk=draft.pk).update(step=draft.step, updated_at=draft.updated_at)


def is_large(draft: Draft) -> bool:
    """Return whether the dashboard's pages of the draft keep a processor busy for long: more than 100 pages, or more
    than 100 stamps and fields."""
    length = Func("document__pages", function="jsonb_array_length", output_field=IntegerField())
    pages = draft.documents.aggregate(pages=Sum(length))["pages"] or 0
    assigned = [one for document in draft.content["documents"] for one in document["signers"]]
    return max(pages, sum(len(one["stamps"]) + len(one["fields"]) for one in assigned)) > _LARGE


def open_drafts(scope: TenantScope) -> QuerySet[Draft]:
    """Return the caller's drafts that are neither sent nor discarded, without those that change places of templates."""
    return scoped(Draft, scope).filter(request=None, discarded_at=None, of_template=False)


@transaction.atomic
def discard(drafts: QuerySet[Draft]) -> int:
    """Delete those of the drafts that are open; of one that an application prepared, keep what tells the application
    that it was discarded. Return how many. Documents stay."""
    found = list(drafts.filter(request=None, discarded_at=None).select_for_update(of=("self",)))
    for draft in found:
        if draft.application_id is None:
            draft.delete()
        else:
            draft.discarded_at = clock.now()
            empty(draft)
    return len(found)


def empty(draft: Draft) -> None:
    """Save a draft that is over, without its title, its texts, its people and its documents."""
    draft.title = draft.subject = draft.message = ""
    draft.content = {}
    draft.save(update_fields=["request", "discarded_at", "title", "subject", "message", "content"])
    draft.documents.all().delete()


def delete_unused_drafts() -> int:
    """Discard the drafts that nobody has changed for 90 days, or for as long as files are kept, where that is shorter;
    delete what is left of equally old drafts that members began and sent. Return how many. Documents stay."""
    count = 0
    for old in over(Draft.objects.all(), "updated_at", UNUSED_FOR):
        count += discard(old)
        sent = old.filter(application=None)
        count += sent.count()
        sent.delete()
    return count
