"""``POST /app/{o}/requests/export``: the chosen requests as CSV, one line each, sent as they are read."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_POST

from paraph.dashboard.decorators import actor, member_page, reauthenticated, see_other
from paraph.dashboard.requests.filters import Filters
from paraph.dashboard.requests.pages import walk
from paraph.kernel import clock
from paraph.kernel.csv_lines import csv_line
from paraph.signature_requests.fields.store import SignedField, signed_fields
from paraph.signature_requests.models import Role, SignatureRequest, SignerStatus
from paraph.tenants.admin_log import note_export
from paraph.tenants.models import Member
from paraph.tenants.rights import Right

_AT_ONCE = 500
_COLUMNS = (
    "id",
    "environment",
    "status",
    "finalized",
    "created_at",
    "expires_at",
    "completed_at",
    "ended_early_at",
    "title",
    "documents",
    "signers",
    "emails",
    "signed",
    "external_id",
    "metadata",
    "approvers",
    "copies",
    "declined_by",
    "fields",
)


@member_page(Right.SEE)
@require_POST
@reauthenticated
def export(request: HttpRequest, member: Member) -> Any:
    filters = Filters(request.POST)
    if not filters.is_valid():
        return see_other("requests", member.organization_id)
    note_export(member.organization_id, actor(request, member), filters.query())
    response = StreamingHttpResponse(_lines(member, filters), content_type="text/csv; charset=utf-8")
    name = f"requests-{member.organization_id}-{clock.now():%Y-%m-%d}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _lines(member: Member, filters: Filters) -> Iterator[str]:
    yield csv_line(_COLUMNS)
    for rows in walk(member, filters, _AT_ONCE):
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
        "; ".join(f"{signer.first_name} {signer.last_name}" for signer in signers),
        "; ".join(signer.email for signer in signers),
        f"{sum(signer.status == SignerStatus.SIGNED for signer in signers)} of {len(signers)}",
        row.external_id,
        json.dumps(row.metadata, ensure_ascii=False) if row.metadata else "",
        "; ".join(signer.email for signer in signers if signer.role == Role.APPROVER),
        "; ".join(copy.email for copy in row.copies.all()),
        emails.get(row.declined_by_id or 0, ""),
        json.dumps(values, ensure_ascii=False) if values else "",
    ]
