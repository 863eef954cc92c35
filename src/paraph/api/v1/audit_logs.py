"""The audit log of a request (specification 4.8)."""

from typing import Any

from ninja import Router

from paraph.api.v1 import audit_schemas, serialize
from paraph.api.v1.answers import Answer
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.errors import not_found
from paraph.api.v1.openapi_parts import PAGED
from paraph.api.v1.pagination import envelope
from paraph.journal.models import Entry
from paraph.operations.stuck import finalization
from paraph.organizations.scope import scoped
from paraph.signature_requests.models import SignatureRequest

router = Router(tags=["Signature requests"])


@router.get(
    "/{int:signature_request_id}/audit_logs",
    response=audit_schemas.AuditLogs,
    operation_id="listAuditLogs",
    openapi_extra=PAGED,
)
def list_audit_logs(request: ApiRequest, signature_request_id: int) -> Answer:
    """Lists what happened to a request, in order."""
    finalized = scoped(SignatureRequest, request.caller).filter(pk=signature_request_id).values_list("finalized")[:1]
    if not finalized:
        raise not_found()
    # A journal never goes back in time, so that its positions are the order of created_at.
    rows = scoped(Entry, request.caller).filter(request_id=signature_request_id).order_by("position")
    ((is_finalized,),) = finalized
    return envelope(rows, request.GET, serialize.audit_log if is_finalized else _with_finalization)


def _with_finalization(row: Entry) -> dict[str, Any]:
    """The entry, and in that of completion what has kept the request from being finalized since. It is no part of
    the journal, which never changes."""
    entry = serialize.audit_log(row)
    kept_back = finalization(row.request_id) if row.event_type == "request.completed" else None
    if kept_back:
        entry["metadata"] = {**row.metadata, "finalization": kept_back}
    return entry
