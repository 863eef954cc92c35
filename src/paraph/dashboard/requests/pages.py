"""Pages of requests of both environments, read from an index in their order, forwards and backwards: never counted and
never skipped."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects

from paraph.dashboard.decorators import scope
from paraph.dashboard.requests.filters import Filters
from paraph.documents.models import Document
from paraph.signature_requests.models import LARGE, RequestDocument, SignatureRequest, Signer
from paraph.signature_requests.search import search
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import scoped

_WHOLE = Prefetch("signers", Signer.objects.defer(*LARGE, "token_salt"))
_SHOWN = Prefetch("document", Document.objects.only("name", "file_deleted_at"))
DOCUMENTS = Prefetch("request_documents", RequestDocument.objects.prefetch_related(_SHOWN))


@dataclass
class Page:
    """``previous`` and ``following`` are the ids to go on from, None where there is nothing. ``too_many_words`` is that
    of :class:`paraph.signature_requests.search.Found`."""

    rows: list[SignatureRequest] = field(default_factory=list)
    previous: int | None = None
    following: int | None = None
    too_many_words: bool = False


def page(member: Member, filters: Filters, at_once: int, start: int | None = None, *, backwards: bool = False) -> Page:
    """Return the requests after ``start`` in the order of the filters (before it if ``backwards``), with signers and
    what is shown of documents."""
    rising = filters.rising != backwards
    found = (_searched if filters.words else _listed)(member, filters, at_once, start, rising=rising)
    rows = found.rows[:at_once]
    onwards = rows[-1].pk if len(found.rows) > at_once else found.following
    back = rows[0].pk if start is not None and rows else start
    prefetch_related_objects(rows, _WHOLE, DOCUMENTS)
    if backwards:
        return Page(rows[::-1], onwards, back, found.too_many_words)
    return Page(rows, back, onwards, found.too_many_words)


def walk(member: Member, filters: Filters, at_once: int) -> Iterator[list[SignatureRequest]]:
    """Yield all requests that the filters choose, page by page."""
    start: int | None = None
    while True:
        found = page(member, filters, at_once, start)
        yield found.rows
        if found.following is None:
            return
        start = found.following


def _listed(member: Member, filters: Filters, at_once: int, start: int | None, *, rising: bool) -> Page:
    """Return the rows, one more than asked for where there are as many."""
    rows: list[SignatureRequest] = []
    last = _own(member, start) if start is not None else None
    for environment in filters.environments:
        chosen = filters.rows(scope(member, environment))
        if last:
            chosen = _beyond(chosen, last, rising=rising)
        rows += chosen.order_by(*(("created_at", "pk") if rising else ("-created_at", "-pk")))[: at_once + 1]
    rows.sort(key=lambda row: (row.created_at, row.pk), reverse=not rising)
    return Page(rows[: at_once + 1])


def _searched(member: Member, filters: Filters, at_once: int, start: int | None, *, rising: bool) -> Page:
    """Return a page of what is found. What lies beyond the point that every environment was looked through to waits for
    the next one."""
    rows: list[SignatureRequest] = []
    points: list[int] = []
    truncated = False
    for environment in filters.environments:
        asked = scope(member, environment)
        chosen = filters.rows(asked)
        found = search(asked, filters.words, chosen, at_once + 1, start, rising=rising)
        rows += chosen.filter(pk__in=found.ids)
        points += [] if found.looked_until is None else [found.looked_until]
        truncated |= found.too_many_words
        rows += _by_number(_past(chosen, start, rising=rising), filters.words, found.ids)
    rows.sort(key=lambda row: row.pk, reverse=not rising)
    point = (min(points) if rising else max(points)) if points else None
    if point is not None:
        rows = [row for row in rows if (row.pk <= point if rising else row.pk >= point)]
    return Page(rows, following=point, too_many_words=truncated)


def _by_number(chosen: QuerySet[SignatureRequest], words: str, found: list[int]) -> QuerySet[SignatureRequest]:
    number = words.removeprefix("#")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return chosen.none()
    return chosen.filter(pk=int(number)).exclude(pk__in=found)


def _past(rows: QuerySet[SignatureRequest], start: int | None, *, rising: bool) -> QuerySet[SignatureRequest]:
    if start is None:
        return rows
    return rows.filter(pk__gt=start) if rising else rows.filter(pk__lt=start)


def _own(member: Member, request_id: int) -> SignatureRequest | None:
    for environment in Environment:
        if row := scoped(SignatureRequest, scope(member, environment)).filter(pk=request_id).first():
            return row
    return None


def _beyond(rows: QuerySet[SignatureRequest], last: SignatureRequest, *, rising: bool) -> QuerySet[SignatureRequest]:
    """Return the rows beyond the last one; the first condition is what the index begins to read by."""
    if rising:
        same = Q(created_at__gt=last.created_at) | Q(pk__gt=last.pk)
        return rows.filter(created_at__gte=last.created_at).filter(same)
    same = Q(created_at__lt=last.created_at) | Q(pk__lt=last.pk)
    return rows.filter(created_at__lte=last.created_at).filter(same)
