"""What needs somebody of the organization: their own signature, mails not taken, requests that expire soon, seals that
wait, inquiries, declined requests. Each is read from an index of its own, and no more than a few of
each; a request stands there once, whatever it needs."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple

from django.db.models import QuerySet, prefetch_related_objects
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from paraph.dashboard.requests.pages import DOCUMENTS
from paraph.evidence.failures import public_cause
from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.signature_requests.models import LARGE, Inquiry, Mode, RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.members import Right, may
from paraph.tenants.models import Member
from paraph.tenants.scope import TenantScope, scoped

_MOST = 5
_SOON = timedelta(days=3)
_SHORTLY = timedelta(minutes=10)  # what is under way by itself needs nobody
_LATELY = timedelta(days=14)
_LATEST_REQUESTS = 200  # in which turns, and mails that were not taken, are looked for


class Reason(NamedTuple):
    kind: str
    sentence: str


class Need(NamedTuple):
    """A request and why somebody looks after it, the most urgent first."""

    request: SignatureRequest
    reasons: list[Reason]

    @property
    def is_turn(self) -> bool:
        return any(reason.kind == "turns" for reason in self.reasons)


def attention(member: Member, scope: TenantScope) -> list[Need]:
    """Return the requests that need the member in an environment, the most urgent first, with the names of their
    documents."""
    needs: dict[int, Need] = {}
    for request, reason in _reasons(member, scope):
        needs.setdefault(request.pk, Need(request, [])).reasons.append(reason)
    found = sorted(needs.values(), key=lambda need: not need.is_turn)
    prefetch_related_objects([need.request for need in found], DOCUMENTS)
    return found


def _reasons(member: Member, scope: TenantScope) -> Iterator[tuple[SignatureRequest, Reason]]:
    for signer in _turns(member, scope) if may(member.role, Right.SEND) else ():
        yield signer.request, Reason("turns", _("Your turn to sign"))
    for inquiry in _inquiries(scope):
        name = inquiry.signer.full_name
        yield inquiry.signer.request, Reason("inquiries", _("%(name)s wrote to you") % {"name": name})
    for request in _declined(scope):
        assert request.declined_by
        yield request, Reason("declined", _("%(name)s declined") % {"name": request.declined_by.full_name})
    refused, waits = _("Not delivered to %(name)s"), _("No mail server has taken the invitation of %(name)s yet")
    for signer in _mails(scope):
        sentence = refused if signer.undelivered else waits
        yield signer.request, Reason("mails", sentence % {"name": signer.full_name})
    for request in _expiring(scope):
        yield request, Reason("expiring", _("Expires on %(day)s") % {"day": date_format(request.expires_at)})
    late = _unsealed(scope)
    causes = {row.request_id: public_cause(row) for row in SealingFailure.objects.filter(request__in=late)}
    for request in late:
        yield request, Reason("unsealed", f"{_('Signed, and not sealed yet')} {causes.get(request.pk, '')}".strip())


def _turns(member: Member, scope: TenantScope) -> Iterable[Signer]:
    """Return the member as the signer of each of the latest requests that they may sign now, the newest first."""
    pending = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    latest = list(pending.values_list("pk", flat=True)[:_LATEST_REQUESTS])
    rows = Signer.objects.filter(request_id__in=latest, email__iexact=member.user.email)
    unsigned = rows.exclude(status=SignerStatus.SIGNED).select_related("request").defer(*LARGE)
    newest = unsigned.order_by("-request_id", "order")[: 2 * _MOST]
    return [signer for signer in newest if signing_eligibility(signer) == SigningEligibility.OPEN][:_MOST]


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
    return rows.select_related("declined_by__request").order_by("-ended_early_at")[:_MOST]


def _mails(scope: TenantScope) -> list[Signer]:
    """Return the signers whose turn it is, and to whom a message was refused for good, or whose invitation no mail
    server has taken for a while."""
    latest = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    pending = {row.pk: row for row in latest[:_LATEST_REQUESTS]}
    unsigned = Signer.objects.filter(request_id__in=pending).exclude(status=SignerStatus.SIGNED).defer(*LARGE)
    waiting, seen, before = list[Signer](), set[int](), clock.now() - _SHORTLY
    for signer in unsigned.order_by("-request_id", "order"):
        signer.request = pending[signer.request_id]
        is_next = signer.request.mode == Mode.PARALLEL or signer.request_id not in seen
        seen.add(signer.request_id)
        is_late = signer.request.send_email and signer.notified_at is None and signer.request.created_at < before
        if is_next and (signer.undelivered or is_late):
            waiting.append(signer)
    return waiting[:_MOST]


def _expiring(scope: TenantScope) -> QuerySet[SignatureRequest]:
    now = clock.now()
    rows = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING, expires_at__gt=now)
    return rows.filter(expires_at__lt=now + _SOON).order_by("expires_at")[:_MOST]


def _unsealed(scope: TenantScope) -> list[SignatureRequest]:
    rows = scoped(SignatureRequest, scope).filter(status=RequestStatus.COMPLETED, finalized=False)
    return list(rows.filter(completed_at__lt=clock.now() - _SHORTLY).order_by("completed_at")[:_MOST])
