"""``/app/{o}/requests``: the organization's requests that the filters choose, page by page, forwards and backwards,
read from an index in their order without counting or skipping rows; ``…/export``: all of them as CSV."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import (
    actor,
    csv_file,
    end_of_day,
    member_page,
    number_in,
    numbers_in,
    own,
    scope,
    see_other,
    show,
    shown_scope,
    start_of_day,
)
from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.kernel.csv_lines import csv_line
from paraph.signature_requests.fields.entry import SignedField, signed_fields
from paraph.signature_requests.models import (
    LARGE,
    RequestDocument,
    RequestStatus,
    Role,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.signature_requests.search import search
from paraph.tenants import usage
from paraph.tenants.admin_log import note_export
from paraph.tenants.members import Right, may
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import TenantScope, scoped

_ANY = ("", gettext_lazy("Any"))
# The status "expired" holds all that ended without being completed.
_STATUSES = [
    *((each.value, each.label) for each in (RequestStatus.PENDING, RequestStatus.COMPLETED)),
    (RequestStatus.EXPIRED.value, gettext_lazy("Ended (expired, declined or withdrawn)")),
]
_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class Filters(forms.Form):
    """The filters of the list, in which a date is the whole day in UTC."""

    use_required_attribute = False
    q = forms.CharField(
        label=gettext_lazy("Search"),
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": gettext_lazy("Title, name, e-mail, file or number")}
        ),
    )
    status = forms.ChoiceField(label=gettext_lazy("Status"), required=False, choices=[_ANY, *_STATUSES])
    created_after = forms.DateField(label=gettext_lazy("Created from"), required=False, widget=_DAY)
    created_before = forms.DateField(label=gettext_lazy("Created until"), required=False, widget=_DAY)
    order = forms.ChoiceField(
        label=gettext_lazy("Order"),
        required=False,
        choices=[("", gettext_lazy("Newest first")), ("asc", gettext_lazy("Oldest first"))],
    )

    @property
    def words(self) -> str:
        return str(self.cleaned_data["q"])

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
            rows = rows.filter(created_at__gte=start_of_day(asked["created_after"]))
        if asked["created_before"]:
            rows = rows.filter(created_at__lte=end_of_day(asked["created_before"]))
        return rows

    def query(self) -> dict[str, Any]:
        """Return what is asked for, as a query string has it."""
        return {name: str(value) for name, value in self.cleaned_data.items() if value}


_WHOLE = Prefetch("signers", Signer.objects.defer(*LARGE, "token_salt"))
_SHOWN = Prefetch("document", Document.objects.only("name", "file_deleted_at"))
DOCUMENTS = Prefetch("request_documents", RequestDocument.objects.prefetch_related(_SHOWN))


def title_of(found: SignatureRequest) -> str:
    """Return what a request is called: its title, else the names of its documents."""
    return found.title or ", ".join(row.document.name for row in found.request_documents.all())


def own_request(member: Member, request_id: int) -> tuple[TenantScope, SignatureRequest]:
    """Return the scope of a request, and the request. Raise ``Http404`` for one that the member may not see."""
    found = own(SignatureRequest, member, request_id, "application", "sent_by")
    return scope(member, found.environment), found


@dataclass
class Page:
    """``previous`` and ``following`` are the ids to go on from, None where there is nothing more. ``too_many_words`` is
    that of :class:`paraph.signature_requests.search.Found`."""

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
    """Return the rows, one more than asked for where there are more."""
    chosen = filters.rows(scope)
    if start is not None and (last := scoped(SignatureRequest, scope).filter(pk=start).first()):
        side, moment = "gt" if rising else "lt", last.created_at
        beyond = Q((f"created_at__{side}", moment)) | Q((f"pk__{side}", last.pk))
        chosen = chosen.filter(Q((f"created_at__{side}e", moment))).filter(beyond)  # the index reads by the first
    return Page(list(chosen.order_by(*(("created_at", "pk") if rising else ("-created_at", "-pk")))[: at_once + 1]))


def _searched(scope: TenantScope, filters: Filters, at_once: int, start: int | None, *, rising: bool) -> Page:
    """Return a page of what is found. Rows beyond the point that the search reached are left for the next page."""
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


AT_ONCE = 50


@member_page(Right.SEE)
def requests(request: HttpRequest, member: Member) -> HttpResponse:
    filters = Filters(request.GET)
    if not filters.is_valid():
        return show(request, "requests/listing.html", {"filters": filters, "page": Page()}, member=member, status=422)
    backwards = "previous" in request.GET
    start = number_in(request.GET.get("previous" if backwards else "following", ""))
    asked = shown_scope(request, member)
    shown = page(asked, filters, AT_ONCE, start, backwards=backwards)
    query = filters.query()
    content = {
        "filters": filters,
        "page": shown,
        "tabs": [] if filters.words else _tabs(asked, filters),
        "query": urlencode(query),
        "newer": _address(query, previous=shown.previous),
        "older": _address(query, following=shown.following),
        "asked": query,
        "may_send": may(member.role, Right.SEND) and asked.environment == Environment.PRODUCTION,
    }
    return show(request, "requests/listing.html", content, member=member)


def _tabs(scope: TenantScope, filters: Filters) -> list[dict[str, Any]]:
    """Return each status with the number of its requests, as the other filters choose them."""
    counts = Counter(usage.by_status(scope, "signature_requests", *filters.days()))
    query = filters.query()
    chosen = query.pop("status", "")
    labels = [("", _("All")), *_STATUSES[:2], (RequestStatus.EXPIRED.value, _("Ended"))]
    return [
        {
            "label": label,
            "count": counts[status] if status else counts.total(),
            "address": f"?{urlencode(query | {'status': status})}",
            "current": status == chosen,
        }
        for status, label in labels
    ]


def _address(query: dict[str, Any], **going: int | None) -> str:
    """Return the address of the list from a request on; "" where there is no such request."""
    return f"?{urlencode(query | going)}" if all(going.values()) else ""


_EXPORTED_AT_ONCE = 500
_COLUMNS = (
    "id", "environment", "status", "finalized", "created_at", "expires_at", "completed_at", "ended_early_at",
    "title", "documents", "signers", "emails", "signed", "external_id", "metadata",
    "approvers", "copies", "declined_by", "fields",
)  # fmt: skip


@member_page(Right.SEE, post_only=True, fresh=True)
def export_requests(request: HttpRequest, member: Member) -> Any:
    filters = Filters(request.POST)
    if not filters.is_valid():
        return see_other("requests", member.organization_id)
    note_export(member.organization_id, actor(request, member), filters.query())
    name = f"requests-{member.organization_id}-{clock.now():%Y-%m-%d}.csv"
    return csv_file(_lines(shown_scope(request, member), filters), name)


def _lines(scope: TenantScope, filters: Filters) -> Iterator[str]:
    yield csv_line(_COLUMNS)
    for rows in walk(scope, filters, _EXPORTED_AT_ONCE):
        prefetch_related_objects(rows, "copies")
        fields = signed_fields([row.pk for row in rows])
        for row in rows:
            yield csv_line(_cells(row, fields[row.pk]))


def _cells(row: SignatureRequest, fields: list[SignedField]) -> list[str]:
    signers = list(row.signers.all())
    emails = {signer.pk: signer.email for signer in signers}
    values = [{"signer": emails[each.field.signer_id], **each.facts()} for each in fields]
    moments = (row.created_at, row.expires_at, row.completed_at, row.ended_early_at)
    return [
        str(row.pk),
        row.environment,
        row.status,
        "true" if row.finalized else "false",
        *[clock.iso(moment) if moment else "" for moment in moments],
        row.title,
        "; ".join(each.document.name for each in row.request_documents.all()),
        "; ".join(signer.full_name for signer in signers),
        "; ".join(signer.email for signer in signers),
        f"{sum(signer.status == SignerStatus.SIGNED for signer in signers)} of {len(signers)}",
        row.external_id,
        json.dumps(row.metadata, ensure_ascii=False) if row.metadata else "",
        "; ".join(signer.email for signer in signers if signer.role == Role.APPROVER),
        "; ".join(copy.email for copy in row.copies.all()),
        emails.get(row.declined_by_id or 0, ""),
        json.dumps(values, ensure_ascii=False) if values else "",
    ]
