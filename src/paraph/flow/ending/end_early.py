"""End a request before its time, on behalf of its sender or an operator, or because its organization was deleted."""

from contextlib import suppress

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.fields.store import forget_entries
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.signature_requests.values import LONGEST_REASON, InvalidValueError, text
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import Organization
from paraph.tenants.scope import TenantScope, scoped


def end_own_early(scope: TenantScope, actor: Actor, request_id: int, reason: str) -> None:
    """End one of the caller's requests. Raise what :func:`end_early` raises."""
    if not scoped(SignatureRequest, scope).filter(pk=request_id).exists():
        raise DomainError("not_found", _("There is no such request."))
    end_early(actor, request_id, reason)


@transaction.atomic
def end_early(actor: Actor, request_id: int, reason: str) -> SignatureRequest:
    """Mark a pending request ``expired`` now; ``expires_at`` stays. Journal, webhooks and the activity log say why.

    Raise ``DomainError``: ``not_found``, ``validation_error`` for a reason that is empty or longer than 500 characters,
    ``conflict`` where the request is over already. The caller checks who may do this, and to whose request.
    """
    ended = _end(request_id, reason)
    note(ended.organization_id, actor, Action.REQUEST_ENDED_EARLY, f"request {request_id}", after={"reason": reason})
    return ended


def _end(request_id: int, reason: str) -> SignatureRequest:
    """Take the same row lock as signing, so that of a last signature and an end that race only one happens."""
    reason = _checked(reason)
    with transaction.atomic():
        try:
            request = lock_request(request_id)
        except SignatureRequest.DoesNotExist:
            raise DomainError("not_found", f"There is no signature request {request_id}.") from None
        if request.status != RequestStatus.PENDING:
            sentence = _("Request %(id)d is %(status)s and cannot be ended any more.")
            raise DomainError("conflict", sentence % {"id": request_id, "status": request.status})
        request.status, request.ended_early_at, request.ended_reason = RequestStatus.EXPIRED, clock.now(), reason
        request.save(update_fields=["status", "ended_early_at", "ended_reason"])
        forget_entries(request)
        events.request_ended_early(request, reason)
    return request


def _checked(reason: str) -> str:
    try:
        return text(reason.strip(), LONGEST_REASON)
    except InvalidValueError:
        sentence = _("The reason must have 1 to %(limit)d printable characters.")
        raise DomainError("validation_error", sentence % {"limit": LONGEST_REASON}) from None


REASON = "The organization was deleted."


def end_requests_of_deleted(most: int | None = None) -> int:
    """End the pending requests of deleted organizations, at most so many, each in a transaction of its own; return how
    many. Safe to repeat and to run twice at once."""
    deleted = Organization.objects.filter(deleted_at__isnull=False).values_list("pk", flat=True)
    pending = SignatureRequest.objects.filter(organization__in=list(deleted), status=RequestStatus.PENDING)
    ended = 0
    for request_id in pending.order_by("pk").values_list("pk", flat=True)[:most]:
        with suppress(DomainError):  # it ended meanwhile
            _end(request_id, REASON)
            ended += 1
    return ended
