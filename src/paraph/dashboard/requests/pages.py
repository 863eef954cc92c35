"""Which requests a member reads: one, or those that filters choose, page by page, from an index in their order,
forwards and backwards: never counted and never skipped."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects
from django.utils.translation import gettext_lazy as _

from paraph.dashboard.decorators import numbers_in, own, scope
from paraph.documents.models import Document
from paraph.signature_requests.models import LARGE, RequestDocument, RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.search import search
from paraph.tenants.models import Member
from paraph.tenants.scope import TenantScope, scoped

_ANY = ("", _("Any"))
# The status "expired" holds all that ended without being completed.
_STATUSES = [
    (RequestStatus.PENDING.value, RequestStatus.PENDING.label),
    (RequestStatus.COMPLETED.value, RequestStatus.COMPLETED.label),
    (RequestStatus.EXPIRED.value, _("Ended (expired, declined or withdrawn)")),
]
_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class Filters(forms.Form):
    """A bare date is the whole day in UTC."""

    use_required_attribute = False
    q = forms.CharField(
        label=_("Search"),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Title, name, e-mail, file or number")}),
    )
    status = forms.ChoiceField(label=_("Status"), required=False, choices=[_ANY, *_STATUSES])
    created_after = forms.DateField(label=_("Created from"), required=False, widget=_DAY)
    created_before = forms.DateField(label=_("Created until"), required=False, widget=_DAY)
    order = forms.ChoiceField(
        label=_("Order"), required=False, choices=[("", _("Newest first")), ("asc", _("Oldest first"))]
    )

    @property
    def words(self) -> str:
        return str(self.cleaned_data["q"]).strip()

    @property
    def rising(self) -> bool:
        return bool(self.cleaned_data["order"])

    def days(self) -> tuple[date, date]:
        return self.cleaned_data["created_after"] or date.min, self.cleaned_data["created_before"] or date.max

    def rows(self, scope: TenantScope) -> QuerySet[SignatureRequest]:
        """Return the caller's requests of this status and time, in no order."""
        asked = self.cleaned_data
        rows = scoped(SignatureRequest, scope)
        if asked["status"]:
            rows = rows.filter(status=asked["status"])
        if asked["created_after"]:
            rows = rows.filter(created_at__gte=_midnight(asked["created_after"]))
        if asked["created_before"] and asked["created_before"] < date.max:
            rows = rows.filter(created_at__lt=_midnight(asked["created_before"] + timedelta(days=1)))
        return rows

    def query(self) -> dict[str, Any]:
        """Return what is asked for, as a query string has it."""
        return {name: str(value) for name, value in self.cleaned_data.items() if value}


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


_WHOLE = Prefetch("signers", Signer.objects.defer(*LARGE, "token_salt"))
_SHOWN = Prefetch("document", Document.objects.only("name", "file_deleted_at"))
DOCUMENTS = Prefetch("request_documents", RequestDocument.objects.prefetch_related(_SHOWN))


def title_of(found: SignatureRequest) -> str:
    """Return what a request is called: its title, else the names of its documents."""
    return found.title or ", ".join(row.document.name for row in found.request_documents.all())


def own_request(member: Member, request_id: int) -> tuple[TenantScope, SignatureRequest]:
    """Return the request, and the organization in its environment, which the member may see. Raise ``Http404``."""
    found = own(SignatureRequest, member, request_id, "application", "sent_by")
    return scope(member, found.environment), found


@dataclass
class Page:
    """``previous`` and ``following`` are the ids to go on from, None where there is nothing. ``too_many_words`` is that
    of :class:`paraph.signature_requests.search.Found`."""

    rows: list[SignatureRequest] = field(default_factory=list)
    previous: int | None = None
    following: int | None = None
    too_many_words: bool = False


def page(
    scope: TenantScope, filters: Filters, at_once: int, start: int | None = None, *, backwards: bool = False
) -> Page:
    """Return the caller's requests after ``start`` in the order of the filters (before it if ``backwards``), with
    signers and what is shown of documents."""
    rising = filters.rising != backwards
    found = (_searched if filters.words else _listed)(scope, filters, at_once, start, rising=rising)
    rows = found.rows[:at_once]
    onwards = rows[-1].pk if len(found.rows) > at_once else found.following
    back = rows[0].pk if start is not None and rows else start
    prefetch_related_objects(rows, _WHOLE, DOCUMENTS)
    if backwards:
        return Page(rows[::-1], onwards, back, found.too_many_words)
    return Page(rows, back, onwards, found.too_many_words)


def walk(scope: TenantScope, filters: Filters, at_once: int) -> Iterator[list[SignatureRequest]]:
    """Yield all requests that the filters choose, page by page."""
    start: int | None = None
    while True:
        found = page(scope, filters, at_once, start)
        yield found.rows
        if found.following is None:
            return
        start = found.following


def _listed(scope: TenantScope, filters: Filters, at_once: int, start: int | None, *, rising: bool) -> Page:
    """Return the rows, one more than asked for where there are as many."""
    chosen = filters.rows(scope)
    if start is not None and (last := scoped(SignatureRequest, scope).filter(pk=start).first()):
        chosen = _beyond(chosen, last, rising=rising)
    return Page(list(chosen.order_by(*(("created_at", "pk") if rising else ("-created_at", "-pk")))[: at_once + 1]))


def _searched(scope: TenantScope, filters: Filters, at_once: int, start: int | None, *, rising: bool) -> Page:
    """Return a page of what is found. Rows beyond the point that was searched up to wait for the next page."""
    chosen = filters.rows(scope)
    found = search(scope, filters.words, chosen, at_once + 1, start, rising=rising)
    past = chosen if start is None else chosen.filter(Q(pk__gt=start) if rising else Q(pk__lt=start))
    numbered = past.filter(pk__in=numbers_in([filters.words.removeprefix("#")])).exclude(pk__in=found.ids)
    rows = [*chosen.filter(pk__in=found.ids), *numbered]
    rows.sort(key=lambda row: row.pk, reverse=not rising)
    point = found.looked_until
    if point is not None:
        rows = [row for row in rows if (row.pk <= point if rising else row.pk >= point)]
    return Page(rows, following=point, too_many_words=found.too_many_words)


def _beyond(rows: QuerySet[SignatureRequest], last: SignatureRequest, *, rising: bool) -> QuerySet[SignatureRequest]:
    """Return the rows beyond the last one; the first condition is what the index begins to read by."""
    side, moment = "gt" if rising else "lt", last.created_at
    beyond = Q((f"created_at__{side}", moment)) | Q((f"pk__{side}", last.pk))
    return rows.filter(Q((f"created_at__{side}e", moment))).filter(beyond)
