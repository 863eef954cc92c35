"""Ending requests before they are signed: when their time is over, early, or with their organization (rule 3.1)."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from paraph.flow import events
from paraph.flow.branding import remove_logos
from paraph.flow.events import lock_request
from paraph.flow.messages.notices import queue_mails
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.fields.entry import forget_entries
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.signature_requests.signing import is_over
from paraph.signature_requests.values import LONGEST_REASON, InvalidValueError, text
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.lifecycle import close_organization
from paraph.tenants.models import Organization
from paraph.tenants.scope import TenantScope, scoped

_EXPIRED_AT_ONCE = 200
_ENDED_AT_ONCE = 20  # while somebody waits for the answer
REASON = "The organization was deleted."


def expire(request_id: int, *, sandbox_act: bool = False) -> bool:
    """Mark the request ``expired`` if it is pending and its time is over; return whether it did. ``sandbox_act``:
    whether a test ended its time early. Take the same row lock as signing, so that a signature and an expiry at the
    same time cannot both succeed."""
    with transaction.atomic():
        request = lock_request(request_id)
        if request.status != RequestStatus.PENDING or clock.now() < request.expires_at:
            return False
        SignatureRequest.objects.filter(pk=request_id).update(status=RequestStatus.EXPIRED)
        request.status = RequestStatus.EXPIRED
        forget_entries(request)
        events.request_expired(request, sandbox_act=sandbox_act)
        return True


def expire_due(stopping: Callable[[], bool] = lambda: False) -> int:
    """Expire every request that is due, oldest first, each in a transaction of its own; return how many. Every worker
    calls this every few seconds, beside its jobs, so that no number of jobs delays it. Where requests fail, the others
    are expired all the same, and the first failure is raised at the end. End early once ``stopping`` says so; the next
    call does the rest."""
    expired, failures = 0, list[Exception]()
    for request_id in _due():
        if stopping():
            break
        try:
            expired += expire(request_id)
        except Exception as error:  # noqa: BLE001  raised below, after the other requests
            failures.append(error)
    if failures:
        raise failures[0]
    return expired


def _due() -> Iterator[int]:
    """Yield due requests in batches, each from where the last one ended, so that requests that fail are met once."""
    pending = SignatureRequest.objects.filter(status=RequestStatus.PENDING, expires_at__lte=clock.now())
    ordered, later = pending.order_by("expires_at", "pk").values_list("pk", "expires_at"), Q()
    while batch := list(ordered.filter(later)[:_EXPIRED_AT_ONCE]):
        yield from (request_id for request_id, _end in batch)
        last, end = batch[-1]
        later = Q(expires_at__gte=end) & (Q(pk__gt=last) | Q(expires_at__gt=end))


@transaction.atomic
def sandbox_expire(request_id: int) -> None:
    """Move ``expires_at`` to this second and expire the request, so that a test need not wait for it. Raise
    ``DomainError("conflict", …)`` where it is over already, whether or not a worker has marked it. The caller checks
    whose request it is, and that it is of the sandbox."""
    request = lock_request(request_id)
    now = clock.now()
    if is_over(request, now):
        raise DomainError("conflict", _("The request is over."))
    request.expires_at = now.replace(microsecond=0)
    request.save(update_fields=["expires_at"])
    expire(request_id, sandbox_act=True)


def end_own_early(scope: TenantScope, actor: Actor, request_id: int, reason: str) -> None:
    """End one of the caller's requests. Raise what :func:`end_early` raises."""
    if not scoped(SignatureRequest, scope).filter(pk=request_id).exists():
        raise DomainError("not_found", _("There is no such request."))
    end_early(actor, request_id, reason)


@transaction.atomic
def end_early(actor: Actor, request_id: int, reason: str) -> SignatureRequest:
    """Withdraw a pending request: mark it ``expired`` now; ``expires_at`` stays. Journal, webhooks and the activity log
    say why, and so do the mails to those who were invited. Raise ``DomainError``: ``not_found``, ``validation_error``
    for a reason that is not one line of at most 500 characters, ``conflict`` where the request is over already. The
    caller checks who may do this, and to whose request."""
    try:
        reason = text(reason.strip(), LONGEST_REASON) if reason.strip() else ""
    except InvalidValueError:
        sentence = _("The reason must have at most %(limit)d printable characters.")
        raise DomainError("validation_error", sentence % {"limit": LONGEST_REASON}) from None
    ended = _end(request_id, reason)
    queue_mails(ended)
    note(ended.organization_id, actor, Action.REQUEST_ENDED_EARLY, f"request {request_id}", after={"reason": reason})
    return ended


@transaction.atomic
def _end(request_id: int, reason: str) -> SignatureRequest:
    """Take the same row lock as signing, so that a last signature and an end at the same time cannot both succeed."""
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


def end_requests_of_deleted(most: int | None = None) -> int:
    """End the pending requests of deleted organizations, at most ``most``, each in a transaction of its own; return how
    many. Safe to repeat and to run twice at once."""
    deleted = Organization.objects.filter(deleted_at__isnull=False).values_list("pk", flat=True)
    pending = SignatureRequest.objects.filter(organization__in=list(deleted), status=RequestStatus.PENDING)
    ended = 0
    for request_id in pending.order_by("pk").values_list("pk", flat=True)[:most]:
        with suppress(DomainError):  # it ended meanwhile
            _end(request_id, REASON)
            ended += 1
    return ended


def delete_organization(organization_id: int, actor: Actor, typed_name: str | None = None) -> int:
    """Delete an organization: its keys and pages end at once, then all of its pending requests, each in a transaction
    of its own; a job ends those that a crash leaves. Return how many ended. With ``typed_name``, the name that a member
    typed, only a few end at once, and the job ends the others within minutes. Raise ``DomainError``: ``not_found``, or
    ``validation_error`` where ``typed_name`` is another name."""
    with transaction.atomic():
        close_organization(organization_id, actor, typed_name)
        remove_logos(organization_id)
    return end_requests_of_deleted(most=None if typed_name is None else _ENDED_AT_ONCE)
