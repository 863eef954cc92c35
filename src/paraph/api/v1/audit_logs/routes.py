"""The audit log of a request (rule 4.8)."""

from collections.abc import Callable
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpResponse

from paraph.api.v1.audit_logs.output import AuditLog, AuditLogs
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.operation import operation
from paraph.api.v1.pagination import PAGING, envelope
from paraph.api.v1.problems import not_found
from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.failures import finalization
from paraph.otp.guesses import by_entry
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.scope import scoped

_WRONG_CODES = Exists(OneTimeCode.objects.filter(signer__request=OuterRef("pk"), wrong_guesses__gt=0))


@operation(
    "listAuditLogs",
    "GET /signature_requests/{signature_request_id}/audit_logs",
    AuditLogs,
    "A page of entries.",
    accepts=PAGING,
)
def list_audit_logs(request: ApiRequest, signature_request_id: int) -> HttpResponse:
    """List the audit log of a request.

    Lists what happened to a request, oldest first. Entries are only ever added.
    """
    wanted = scoped(SignatureRequest, request.scope).filter(pk=signature_request_id)
    found = list(wanted.values_list("finalized", _WRONG_CODES))
    if not found:
        raise not_found()
    # A journal never goes back in time, so that its positions are the order of created_at.
    rows = scoped(Entry, request.scope).filter(request_id=signature_request_id).order_by("position")
    ((is_finalized, has_wrong_codes),) = found
    return envelope(AuditLogs, rows, request.GET, _telling(signature_request_id, is_finalized, has_wrong_codes))


def _telling(request_id: int, is_finalized: bool, has_wrong_codes: bool) -> Callable[[Entry], AuditLog]:
    """Return how an entry is shown: with what is known now and is no part of the journal, which never changes. In that
    of completion what has kept the request from being finalized since, in that of a signer's newest code how many wrong
    ones were entered."""
    wrong_codes = by_entry(request_id) if has_wrong_codes else {}

    def told(row: Entry) -> AuditLog:
        known: dict[str, Any] = {}
        if not is_finalized and row.event_type == EventType.COMPLETED:
            known["finalization"] = finalization(row.request_id)
        known["wrong_codes"] = wrong_codes.get(row.position)
        return AuditLog.of(row, **{name: fact for name, fact in known.items() if fact})

    return told
