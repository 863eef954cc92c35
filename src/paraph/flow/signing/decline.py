"""Decline for a signer, which ends the request for everybody."""

from django.db import transaction

from paraph.audit_trail.journal import Origin
from paraph.flow import events
from paraph.flow.events import lock_holder
from paraph.flow.messages.tell_of_end import queue_mails
from paraph.flow.signing.ask import plain_text
from paraph.kernel import clock
from paraph.signature_requests.fields.entry import forget_entries
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.signing import require_open
from paraph.signature_requests.values import LONGEST_REASON
from paraph.tenants.admin_log import SIGNER, Action, note


def require_declinable(signer: Signer) -> None:
    """Raise ``DomainError`` ``decline_not_allowed`` where the request does not let its signers decline, else as
    :func:`require_open` does."""
    if not signer.request.decline_allowed:
        raise translated("decline_not_allowed", "decline_not_allowed")
    require_open(signer)


def decline(signer: Signer, reason: str, origin: Origin, *, sandbox_act: bool = False) -> SignatureRequest:
    """End the request early for the signer's reason and return it; the signer's status stays.

    Takes the row lock that signing takes, so that of a last signature and a decline at the same time only one happens.
    Raise what :func:`require_declinable` and :func:`lock_holder` raise, and ``validation_error`` for a reason that is
    blank or longer than 500 characters.
    """
    require_declinable(signer)
    reason = plain_text(reason)
    if not reason:
        raise translated("validation_error", "field_missing", field="reason")
    if len(reason) > LONGEST_REASON:
        raise translated("validation_error", "field_text", field="reason", most=LONGEST_REASON)
    with transaction.atomic():
        signer = lock_holder(signer)
        moment = clock.now()
        require_open(signer, moment)
        request = signer.request
        request.status, request.ended_early_at, request.ended_reason = RequestStatus.EXPIRED, moment, reason
        request.declined_by = signer
        request.save(update_fields=["status", "ended_early_at", "ended_reason", "declined_by"])
        forget_entries(request)
        events.request_declined(signer, reason, origin, sandbox_act=sandbox_act)
        queue_mails(request)
        note(request.organization_id, SIGNER, Action.SIGNER_DECLINED, f"request {request.pk}, signer {signer.pk}")
    return request
