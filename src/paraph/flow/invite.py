"""Inviting a signer by e-mail (specification 3.2): ``notified`` only once the mail server has the message."""

from django.db import transaction

from paraph.flow import events, letters
from paraph.flow.lock import alone, lock_signer
from paraph.kernel import clock
from paraph.messaging.email import send_email
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signature_requests.signing_token import signing_url
from paraph.signature_requests.standing import Standing, standing


@transaction.atomic
def invite(signer_id: int) -> None:
    """Mails the signing URL to a signer who may sign now and was not invited before; else does nothing.

    Safe to repeat. After a crash between the mail server's answer and the commit the message goes out again under
    the same Message-ID. Raises ``OSError`` when the gateway does not take it.
    """
    alone("invite", signer_id)
    signer = Signer.objects.select_related("request", "request__organization").get(pk=signer_id)
    if signer.notified_at or standing(signer) is not Standing.OPEN:
        return
    letter = letters.invitation(signer, signing_url(signer))
    acknowledgement = send_email(
        signer.email, letter.subject, letter.text, letter.html, message_id=f"invitation-{signer.pk}"
    )
    _mark_notified(signer, acknowledgement)


def _mark_notified(known: Signer, acknowledgement: str) -> None:
    """A signer who signed while the mail was on its way stays ``signed``."""
    signer = lock_signer(known)
    signer.notified_at = clock.now()
    if signer.status == SignerStatus.PENDING:
        signer.status = SignerStatus.NOTIFIED
    signer.save(update_fields=["notified_at", "status"])
    events.signer_notified(signer, acknowledgement)
