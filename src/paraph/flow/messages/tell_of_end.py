"""Mails that a request ended before its time: to its signers, that somebody declined or that its sender withdrew it; of
a decline, to the organization's contact address and to the member who sent the request, too."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import Q, QuerySet

from paraph.flow.messages import emails
from paraph.flow.messages.owed import CONTACT, queue_mail
from paraph.flow.messages.sent_once import READ_ALONG, DueEmail, mail_row_once
from paraph.flow.messages.tell_sender import due_mail, is_told, message_id
from paraph.queue.jobs import defer
from paraph.signature_requests.models import ERASED_DOMAIN, Channel, SenderMail, SignatureRequest, Signer, SignerStatus
from paraph.tenants.models import MailKind

_INVITED = ~Q(status=SignerStatus.PENDING) | Q(invitation__isnull=False)


def queue_mails(request: SignatureRequest) -> None:
    """Queue the mails about the end, to be sent once the transaction commits: of a decline, to the member who sent the
    request and to the organization's contact address; where the request mails its signers, to those who were invited or
    have signed, but not to who declined."""
    if request.declined_by_id:
        queue_mail(request, MailKind.DECLINED, request.declined_by_id)
        queue_mail(request, CONTACT, request.declined_by_id)
    for signer_id in _concerned(request).values_list("pk", flat=True):
        defer("tell_signer_of_end", signer_id=signer_id)


class PendingMail(NamedTuple):
    """A mail about an end that is not out yet. ``task`` and ``arguments``: those of the job that sends it; ``name``:
    that of the mail in the captured inbox."""

    task: str
    arguments: dict[str, int | str]
    to: str
    name: str


def pending_mails(request: SignatureRequest) -> Iterator[PendingMail]:
    """Yield the mails about the early end of the request that are not out yet."""
    if request.ended_early_at is None:
        return
    noted = SenderMail.objects.filter(request=request, about=request.declined_by_id or 0, sent_at=None)
    for mail in noted.select_related(*READ_ALONG).filter(kind__in=(MailKind.DECLINED, CONTACT)).order_by("-kind"):
        if due_mail(mail):
            to = "the contact address" if mail.kind == CONTACT else "the sender"
            yield PendingMail("tell_sender", {"name": mail.name}, to, message_id(mail.name))
    for signer in _concerned(request).filter(end_told_at=None).exclude(email__endswith=ERASED_DOMAIN):
        if _due_to_signer(signer):
            name = _message_to_signer(signer.pk)
            yield PendingMail("tell_signer_of_end", {"signer_id": signer.pk}, signer.full_name, name)


def _concerned(request: SignatureRequest) -> QuerySet[Signer]:
    invited = request.signers.filter(_INVITED).exclude(pk=request.declined_by_id or 0)
    return invited if request.send_email else invited.none()


def tell_signer_of_end(signer_id: int) -> None:
    """Mail a signer that somebody else declined, or that the sender withdrew the request; nothing once the organization
    is deleted, nor to a sender who signs, too, and is told of the decline as its sender. Safe to repeat. Raise as
    :func:`paraph.flow.messages.tell_sender.tell_sender` does."""
    signer = Signer.objects.select_related(*READ_ALONG).filter(pk=signer_id)
    mail_row_once(_message_to_signer(signer_id), signer, "end_told_at", _due_to_signer)


def _message_to_signer(signer_id: int) -> str:
    return f"end-{signer_id}"


def _due_to_signer(signer: Signer) -> DueEmail | None:
    request, refused = signer.request, signer.undelivered or {}  # a number that refuses codes is no word about mails
    if refused.get("channel") == Channel.EMAIL or request.organization.deleted_at:
        return None
    if not request.declined_by_id:
        return DueEmail(signer, emails.withdrawn(signer))
    told = is_told(request, MailKind.DECLINED, signer.email)
    return None if told else DueEmail(signer, emails.declined_to_signer(signer))
