"""Mailing copies of a finalized request to those who get one and take no other part."""

from django.db import transaction

from paraph.audit_trail.models import Entry, EventType
from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.flow.messages.copy_emails import copy_email
from paraph.flow.messages.sent_once import DueEmail, mail_all, mail_once
from paraph.kernel import clock
from paraph.messaging import inbox
from paraph.signature_requests.models import ERASED_DOMAIN, CopyRecipient, Signer


def mail_copies(request_id: int) -> None:
    """Mail everybody who gets a copy once, then journal ``request.completion_notified`` with those who were mailed.

    Safe to repeat: those who have the mail are left out. Raise ``OSError`` when the gateway does not take a mail,
    ``TooManyMessagesError`` where one is put off, in both cases after the mails to the others.
    """
    recipients = CopyRecipient.objects.filter(request=request_id).exclude(email__endswith=ERASED_DOMAIN)
    mail_all(_mail, recipients.filter(notified_at=None).values_list("pk", flat=True))
    with transaction.atomic():
        request = lock_request(request_id)
        told = Entry.objects.filter(request=request, event_type=EventType.COMPLETION_NOTIFIED, metadata__copies=True)
        # Those whose files were deleted before the mail was out have none.
        addresses = {recipient.pk: recipient.email for recipient in recipients.exclude(notified_at=None)}
        if addresses and not told.exists():
            events.copies_mailed(request, list(addresses.values()), inbox.kept(map(mail_name, addresses)))


def mail_name(recipient_id: int) -> str:
    """Return the name under which the mail is sent once (:func:`paraph.flow.messages.sent_once.mail_once`)."""
    return f"copy-{recipient_id}"


def _mail(recipient_id: int) -> None:
    mail_once(
        mail_name(recipient_id),
        lambda: _due(recipient_id),
        lambda _acknowledgement: CopyRecipient.objects.filter(pk=recipient_id).update(notified_at=clock.now()),
    )


def _due(recipient_id: int) -> DueEmail | None:
    related = ("request__organization", "request__branding_profile")
    recipient = CopyRecipient.objects.select_related(*related).get(pk=recipient_id)
    request = recipient.request
    if recipient.notified_at or request.files_deleted_at or recipient.email.endswith(ERASED_DOMAIN):
        return None
    signer = Signer.objects.filter(request=request).order_by("order")[0]
    signer.request = request
    return DueEmail(signer, copy_email(recipient), to=recipient.email)
