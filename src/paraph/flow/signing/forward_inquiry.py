"""Mailing what a signer asks to the sender's contact address."""

from paraph.flow.messages.inquiry_email import forwarded_name, inquiry_email
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.kernel import clock
from paraph.signature_requests.models import Inquiry


def forward_inquiry(inquiry_id: int) -> None:
    """Mails the inquiry, with the signer as the one to answer; does nothing where the sender has no address any more.

    Safe to repeat. Raises ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put
    off.
    """
    mail_once(
        forwarded_name(inquiry_id),
        lambda: _due(inquiry_id),
        lambda _acknowledgement: Inquiry.objects.filter(pk=inquiry_id).update(forwarded_at=clock.now()),
    )


def _due(inquiry_id: int) -> DueEmail | None:
    inquiry = Inquiry.objects.select_related("signer__request__organization", "signer__request__branding_profile").get(
        pk=inquiry_id
    )
    contact = inquiry.signer.request.organization.contact_email
    if inquiry.forwarded_at or not contact:
        return None
    return DueEmail(inquiry.signer, inquiry_email(inquiry), to=contact, reply_to=inquiry.signer.email)
