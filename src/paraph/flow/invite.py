"""Inviting a signer by e-mail (specification 3.2). ``notified`` means that the mail server has the message."""

from django.db import transaction
from django.utils.dateparse import parse_datetime

from paraph.flow import events
from paraph.flow.lock import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.kernel import clock
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signing_url


def invite(signer_id: int) -> None:
    """Mails the signing URL to a signer who may sign now and was not invited before; does nothing for others.

    Safe to repeat. Raises ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put
    off.
    """
    mail_once(
        f"invitation-{signer_id}",
        lambda: _due(signer_id),
        lambda acknowledgement: Signer.objects.filter(pk=signer_id).update(
            invitation={"taken_at": clock.now().isoformat(), "acknowledgement": acknowledgement}
        ),
    )
    _mark_notified(signer_id)


def _due(signer_id: int) -> DueEmail | None:
    signer = Signer.objects.select_related("request__organization", "request__branding_profile").get(pk=signer_id)
    if signer.invitation or signer.notified_at or signing_eligibility(signer) is not SigningEligibility.OPEN:
        return None
    return DueEmail(signer, emails.invitation(signer, signing_url(signer)))


@transaction.atomic
def _mark_notified(signer_id: int) -> None:
    """Journals the invitation. A signer who signed while the mail was under way stays ``signed``."""
    signer = lock_signer(signer_id)
    if signer.notified_at or not signer.invitation:
        return
    signer.notified_at = parse_datetime(signer.invitation["taken_at"])
    if signer.status == SignerStatus.PENDING:
        signer.status = SignerStatus.NOTIFIED
    signer.save(update_fields=["notified_at", "status"])
    events.signer_notified(signer, signer.invitation["acknowledgement"])
