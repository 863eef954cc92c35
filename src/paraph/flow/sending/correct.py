"""Correct what was sent, while it waits for signatures: who a signer is and how they are reached, what the request's
mails say, and until when it can be signed (rule 20)."""

from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.audit_trail.journal import Origin
from paraph.flow import events
from paraph.flow.events import lock_request, lock_signer
from paraph.flow.messages.notices import EXPIRY_WARNINGS
from paraph.flow.messages.sent_once import forget_mails
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.otp import codes
from paraph.queue.jobs import defer
from paraph.signature_requests.fields import entry as field_values
from paraph.signature_requests.models import Channel, FirstOpening, Reminder, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.plan import sms_refusal
from paraph.signature_requests.problems import InvalidPayloadError, Problem, Problems
from paraph.signature_requests.signing import SigningEligibility, is_over, signing_eligibility
from paraph.signature_requests.values import InvalidValueError, sms_number
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.limits import allowance
from paraph.tenants.models import MailKind
from paraph.tenants.scope import TenantScope, scoped

MOST_LINKS = 100  # of one signer
_WAY = {"email", "phone", "otp_channel"}  # how the signer is reached; the earlier link may be somebody else's


@transaction.atomic
def correct_signer(
    scope: TenantScope, actor: Actor, request_id: int, signer_id: int, given: Mapping[str, str], *, origin: Origin
) -> Signer:
    """Correct what is ``given``, values by column, of a signer who has not signed.

    Where the way to the signer changes, the link is replaced: the earlier one, the codes sent for it and what was
    entered there are void, and a signer who may sign now is invited again. Take the same row lock as signing, so that a
    signature and a correction at once cannot both succeed. Raise ``DomainError``: ``not_found``, ``already_signed``,
    ``conflict`` where the request is over, ``forbidden`` (SMS on the plan) and ``validation_error``.
    """
    _own(scope, request_id, signer_id)
    signer = lock_signer(signer_id)
    eligibility = signing_eligibility(signer)
    if eligibility is SigningEligibility.SIGNED:
        raise DomainError("already_signed", _("The signer has already signed."))
    _require_pending(signer.request)
    old = {name: getattr(signer, name) for name in given}
    changed = [name for name in given if given[name] != old[name]]
    for name in changed:
        setattr(signer, name, given[name])
    signer.locale = signer.language
    _require_valid(scope, signer, changed)
    is_moved = not _WAY.isdisjoint(changed)
    if is_moved:
        _replace_link(signer)
    signer.save()
    before, after = ({name: values[name] for name in changed} for values in (old, given))
    events.signer_corrected(signer, before, after, origin)
    note(scope.organization_id, actor, Action.SIGNER_CORRECTED, f"request {request_id}, signer {signer_id}")
    if is_moved and signer.request.send_email and eligibility is SigningEligibility.OPEN:
        defer("invite", signer_id=signer_id)
    return signer


def _own(scope: TenantScope, request_id: int, signer_id: int | None = None) -> None:
    found = scoped(SignatureRequest, scope).filter(pk=request_id)
    if not (found.filter(signers=signer_id) if signer_id else found).exists():
        raise DomainError("not_found", _("There is no such resource."))


def _require_pending(request: SignatureRequest) -> None:
    if is_over(request, clock.now()):
        raise DomainError("conflict", _("The request is over."))


def _require_valid(scope: TenantScope, signer: Signer, changed: list[str]) -> None:
    """Check what no single value shows; each was read by itself, as in a creation."""
    if not changed:
        raise DomainError("validation_error", _("Nothing changes: the signer has these values already."))
    if "otp_channel" in changed and signer.otp_channel == Channel.SMS and not allowance(scope.plan).sms:
        problem = Problem("otp_channel", _("your plan does not include codes by SMS."))
        raise InvalidPayloadError("forbidden", str(problem), [problem])
    problems = Problems()
    others = Signer.objects.filter(request=signer.request_id).exclude(pk=signer.pk)
    if "email" in changed and others.filter(email__iexact=signer.email).exists():
        problems.add("email", _("another signer of this request has this address."))
    if signer.otp_channel == Channel.SMS and not signer.phone:
        problems.add("phone", _("it is required, as otp_channel is sms."))
    elif signer.otp_channel == Channel.SMS:
        try:
            sms_number(signer.phone)
        except InvalidValueError as wrong:
            problems.add("phone", str(wrong))
        if "otp_channel" in changed and (refusal := sms_refusal(scope.environment)):
            problems.add("otp_channel", refusal)
    if not _WAY.isdisjoint(changed) and signer.replaced_links >= MOST_LINKS:
        sentence = _("How this signer is reached has already been corrected %(count)d times, the maximum.")
        raise DomainError("conflict", sentence % {"count": MOST_LINKS})
    problems.refuse()


def _replace_link(signer: Signer) -> None:
    """Replace the link, and forget what came of the earlier one, which somebody else may have opened."""
    signer.replaced_links += 1
    signer.status = SignerStatus.PENDING
    signer.invitation = signer.notified_at = signer.remind_at = signer.undelivered = None
    field_values.write(signer, {})
    codes.withdraw(signer)
    FirstOpening.objects.filter(signer=signer).delete()
    Reminder.objects.filter(signer=signer, mail__isnull=True).delete()
    forget_mails(signer.request, MailKind.UNDELIVERED, [signer.pk])


@transaction.atomic
def extend(
    scope: TenantScope, actor: Actor, request_id: int, validity_days: int, *, origin: Origin
) -> SignatureRequest:
    """Move the end of a pending request to ``validity_days`` from now. Raise ``DomainError``: ``not_found``,
    ``conflict`` where it is over, ``validation_error`` where it would end earlier than before."""
    request = _locked(scope, request_id)
    earlier = request.expires_at
    request.expires_at = clock.now().replace(microsecond=0) + timedelta(days=validity_days)
    if request.expires_at < earlier:
        sentence = _("the request can already be signed until %(moment)s, which is later.")
        problem = Problem("validity_days", sentence % {"moment": f"{earlier:%Y-%m-%d %H:%M} UTC"})
        raise InvalidPayloadError("validation_error", str(problem), [problem])
    request.save(update_fields=["expires_at"])
    forget_mails(request, MailKind.EXPIRING, EXPIRY_WARNINGS)
    events.request_extended(request, earlier, origin)
    moments = {"before": {"expires_at": clock.iso(earlier)}, "after": {"expires_at": clock.iso(request.expires_at)}}
    note(scope.organization_id, actor, Action.REQUEST_EXTENDED, f"request {request_id}", **moments)
    return request


@transaction.atomic
def reword(scope: TenantScope, actor: Actor, request_id: int, subject: str, message: str) -> None:
    """Change what the member writes to the signers, for the mails that are still to come. The caller has checked them.
    Raise ``DomainError``: ``not_found``, ``conflict``."""
    request = _locked(scope, request_id)
    if (request.subject, request.message) == (subject, message):
        return
    SignatureRequest.objects.filter(pk=request_id).update(subject=subject, message=message)
    note(scope.organization_id, actor, Action.REQUEST_REWORDED, f"request {request_id}")


def _locked(scope: TenantScope, request_id: int) -> SignatureRequest:
    _own(scope, request_id)
    request = lock_request(request_id)
    _require_pending(request)
    return request
