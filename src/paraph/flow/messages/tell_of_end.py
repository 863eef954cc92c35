"""Mails that a request ended before its time: to its signers, that somebody declined or that its sender withdrew it; of
a decline, to the organization's contact address and to the member who sent the request, too."""

from django.db.models import Q, QuerySet

from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import CONTACT, READ_ALONG, DueEmail, mail_row_once, queue_mail
from paraph.flow.messages.tell_sender import is_told
from paraph.queue.jobs import defer
from paraph.signature_requests.models import Channel, SignatureRequest, Signer, SignerStatus
from paraph.tenants.models import MailKind

_INVITED = ~Q(status=SignerStatus.PENDING) | Q(invitation__isnull=False)


def queue_mails(request: SignatureRequest) -> None:
    """Queue the mails about the end, to be sent once the transaction commits: of a decline, to the member who sent the
    request and to the organization's contact address; where the request mails its signers, to those who were invited or
    have signed, but not to who declined."""
    if request.declined_by_id:
        queue_mail(request, MailKind.DECLINED, request.declined_by_id)
        queue_mail(request, CONTACT, request.declined_by_id)
    for signer_id in to_be_told(request).values_list("pk", flat=True):
        defer("tell_signer_of_end", signer_id=signer_id)


def to_be_told(request: SignatureRequest) -> QuerySet[Signer]:
    """Return the signers who are mailed that the request ended early, whether or not the mail is out."""
    invited = request.signers.filter(_INVITED).exclude(pk=request.declined_by_id or 0)
    return invited if request.send_email else invited.none()


def tell_signer_of_end(signer_id: int) -> None:
    """Mail a signer that somebody else declined, or that the sender withdrew the request; nothing once the organization
    is deleted, nor to a sender who signs, too, and is told of the decline as its sender. Safe to repeat. Raise as
    :func:`paraph.flow.messages.tell_sender.tell_sender` does."""
    signer = Signer.objects.select_related(*READ_ALONG).filter(pk=signer_id)
    mail_row_once(end_name(signer_id), signer, "end_told_at", due_to_signer)


def end_name(signer_id: int) -> str:
    """Return the name under which the mail about the end is sent once."""
    return f"end-{signer_id}"


def due_to_signer(signer: Signer) -> DueEmail | None:
    """Return the mail about the end, which is not out; None where it is not to be sent."""
    request, refused = signer.request, signer.undelivered or {}  # a number that refuses codes is no word about mails
    if refused.get("channel") == Channel.EMAIL or request.organization.deleted_at:
        return None
    if not request.declined_by_id:
        return DueEmail(signer, emails.withdrawn(signer))
    told = is_told(request, MailKind.DECLINED, signer.email)
    return None if told else DueEmail(signer, emails.declined_to_signer(signer))
