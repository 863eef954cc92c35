"""Inviting a signer by e-mail (rule 3.2). ``notified`` means that the mail server has the message."""

from datetime import timedelta
from smtplib import SMTPRecipientsRefused

from django.db import transaction
from django.db.models import Max
from django.utils.dateparse import parse_datetime

from paraph.flow import events
from paraph.flow.lock import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.flow.messages.tell_sender import owe_mail
from paraph.kernel import clock
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signing_url
from paraph.tenants.models import MailKind

_USUALLY = timedelta(hours=1)  # for so long a mail server may be away, and nobody is worried
_PERMANENT = 500


def invite(signer_id: int) -> None:
    """Mail the signing URL to a signer who may sign now and was not invited before; do nothing for others.

    Safe to repeat. Raises ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put
    off. The member who sent the request is told where the mail server refuses the address, or takes nothing for an
    hour.
    """
    try:
        mail_once(
            f"invitation-{signer_id}",
            lambda: _due(signer_id),
            lambda acknowledgement: Signer.objects.filter(pk=signer_id).update(
                invitation={"taken_at": clock.now().isoformat(), "acknowledgement": acknowledgement}
            ),
        )
    except OSError as refusal:
        _tell_sender(signer_id, refusal)
        raise
    _mark_notified(signer_id)


def _due(signer_id: int) -> DueEmail | None:
    signer = Signer.objects.select_related(
        "request__organization", "request__branding_profile", "request__sent_by"
    ).get(pk=signer_id)
    if signer.invitation or signer.notified_at or signing_eligibility(signer) is not SigningEligibility.OPEN:
        return None
    return DueEmail(signer, emails.invitation(signer, signing_url(signer)))


def _tell_sender(signer_id: int, refusal: OSError) -> None:
    signer = Signer.objects.select_related("request").get(pk=signer_id)
    earlier = signer.request.signers.filter(order__lt=signer.order).aggregate(last=Max("signed_at"))["last"]
    begun = max(filter(None, [signer.request.created_at, earlier]))
    if _is_final(refusal) or clock.now() > begun + _USUALLY:
        owe_mail(signer.request, MailKind.UNDELIVERED, signer.pk)


def _is_final(refusal: OSError) -> bool:
    """Return whether the mail server says that it will never take a mail to this address (RFC 5321, 4.2.1)."""
    return isinstance(refusal, SMTPRecipientsRefused) and all(
        code >= _PERMANENT for code, _reply in refusal.recipients.values()
    )


@transaction.atomic
def _mark_notified(signer_id: int) -> None:
    """Journal the invitation. A signer who signed while the mail was under way stays ``signed``."""
    signer = lock_signer(signer_id)
    if signer.notified_at or not signer.invitation:
        return
    signer.notified_at = parse_datetime(signer.invitation["taken_at"])
    if signer.status == SignerStatus.PENDING:
        signer.status = SignerStatus.NOTIFIED
        if signer.request.remind_every_days and signer.notified_at:
            signer.remind_at = signer.notified_at + timedelta(days=signer.request.remind_every_days)
    signer.save(update_fields=["notified_at", "status", "remind_at"])
    events.signer_notified(signer, signer.invitation["acknowledgement"])
