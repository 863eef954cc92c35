"""``/app/{o}/requests``: all requests of the organization, searched and filtered."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import actor, csv_file, member_page, number_in, see_other, show, shown_scope
from paraph.dashboard.requests.pages import Filters, Page, page, walk
from paraph.kernel import clock
from paraph.kernel.csv_lines import csv_line
from paraph.signature_requests.fields.entry import SignedField, signed_fields
from paraph.signature_requests.models import RequestStatus, Role, SignatureRequest, SignerStatus
from paraph.tenants import usage
from paraph.tenants.admin_log import note_export
from paraph.tenants.members import Right, may
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import TenantScope

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
    labels = [
        ("", _("All")),
        (RequestStatus.PENDING.value, RequestStatus.PENDING.label),
        (RequestStatus.COMPLETED.value, RequestStatus.COMPLETED.label),
        (RequestStatus.EXPIRED.value, _("Ended")),
    ]
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
    """Return the same list from a request on; "" where there is none."""
    return f"?{urlencode(query | going)}" if all(going.values()) else ""


_EXPORTED_AT_ONCE = 500
_COLUMNS = (
    *("id", "environment", "status", "finalized", "created_at", "expires_at", "completed_at", "ended_early_at"),
    *("title", "documents", "signers", "emails", "signed", "external_id", "metadata"),
    *("approvers", "copies", "declined_by", "fields"),
)


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
