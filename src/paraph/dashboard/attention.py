"""What needs somebody of the organization: their own signature, mails not taken, requests that expire soon, seals that
wait, inquiries, declined requests, failing webhooks. Each is read from an index of its own, and no more than a few of
each."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects

from paraph.dashboard.requests.pages import DOCUMENTS
from paraph.evidence.failures import public_cause
from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.signature_requests.models import LARGE, Inquiry, Mode, RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.tenants.models import Member
from paraph.tenants.rights import Right, may
from paraph.tenants.scope import TenantScope, scoped
from paraph.webhooks.deliveries import failing_webhooks

_MOST = 5
_SOON = timedelta(days=3)
_SHORTLY = timedelta(minutes=10)  # what is under way by itself needs nobody
_LATELY = timedelta(days=14)
_LATEST_REQUESTS = 200  # in which turns, and mails that were not taken, are looked for


def attention(member: Member, scope: TenantScope) -> dict[str, list[Any]]:
    """Return what needs the member in an environment, by kind, the most urgent first; nothing where nothing does.
    Webhooks are for those who may see deliveries."""
    read: dict[str, Callable[[TenantScope], Iterable[Any]]] = {
        "inquiries": _inquiries,
        "declined": _declined,
        "mails": _mails,
        "expiring": _expiring,
        "unsealed": _unsealed,
    }
    if may(member.role, Right.SEND):
        read["turns"] = partial(_turns, member)
    if may(member.role, Right.BUILD):
        read["webhooks"] = failing_webhooks
    found = {kind: list(of(scope))[:_MOST] for kind, of in read.items()}
    return found if any(found.values()) else {}


def _turns(member: Member, scope: TenantScope) -> list[Signer]:
    """Return the member as the signer of each of the latest requests that they may sign now, the newest first,
    with the names of its documents."""
    pending = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    latest = list(pending.values_list("pk", flat=True)[:_LATEST_REQUESTS])
    rows = Signer.objects.filter(request_id__in=latest, email__iexact=member.user.email)
    unsigned = rows.exclude(status=SignerStatus.SIGNED).select_related("request").defer(*LARGE)
    newest = unsigned.order_by("-request_id", "order")[: 2 * _MOST]
    turns = [signer for signer in newest if signing_eligibility(signer) == SigningEligibility.OPEN][:_MOST]
    prefetch_related_objects([signer.request for signer in turns], DOCUMENTS)
    return turns


def _inquiries(scope: TenantScope) -> QuerySet[Inquiry]:
    rows = Inquiry.objects.filter(
        asked_at__gt=clock.now() - _LATELY,
        signer__request__organization_id=scope.organization_id,
        signer__request__environment=scope.environment,
        signer__request__status=RequestStatus.PENDING,
    )
    return rows.select_related("signer__request").order_by("-asked_at")[:_MOST]


def _declined(scope: TenantScope) -> QuerySet[SignatureRequest]:
    rows = scoped(SignatureRequest, scope).filter(declined_by__isnull=False, ended_early_at__gt=clock.now() - _LATELY)
    return rows.select_related("declined_by").order_by("-ended_early_at")[:_MOST]


def _mails(scope: TenantScope) -> list[Signer]:
    """Return the signers whose turn it is, and whose invitation no mail server has taken."""
    latest = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    before = clock.now() - _SHORTLY
    mailed = {row.pk: row for row in latest[:_LATEST_REQUESTS] if row.send_email and row.created_at < before}
    unsigned = Signer.objects.filter(request_id__in=mailed).exclude(status=SignerStatus.SIGNED).defer(*LARGE)
    waiting, seen = list[Signer](), set[int]()
    for signer in unsigned.order_by("-request_id", "order"):
        signer.request = mailed[signer.request_id]
        is_next = signer.request.mode == Mode.PARALLEL or signer.request_id not in seen
        seen.add(signer.request_id)
        if is_next and signer.notified_at is None:
            waiting.append(signer)
    return waiting[:_MOST]


def _expiring(scope: TenantScope) -> QuerySet[SignatureRequest]:
    now = clock.now()
    rows = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING, expires_at__gt=now)
    return rows.filter(expires_at__lt=now + _SOON).order_by("expires_at")[:_MOST]


def _unsealed(scope: TenantScope) -> list[dict[str, Any]]:
    """Return each request with the cause in words, "" where there is none yet."""
    rows = scoped(SignatureRequest, scope).filter(status=RequestStatus.COMPLETED, finalized=False)
    late = list(rows.filter(completed_at__lt=clock.now() - _SHORTLY).order_by("completed_at")[:_MOST])
    causes = {row.request_id: public_cause(row) for row in SealingFailure.objects.filter(request__in=late)}
    return [{"request": row, "cause": causes.get(row.pk, "")} for row in late]
