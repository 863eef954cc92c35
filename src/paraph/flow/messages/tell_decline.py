"""Mail those concerned that a signer has declined, each once: the sender, and other signers where they are mailed."""

from paraph.flow.messages import decline_emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.flow.messages.tell_sender import message_id, owe_mail
from paraph.kernel import clock
from paraph.queue.defer import defer
from paraph.signature_requests.models import SenderMail, Signer, SignerStatus
from paraph.tenants.models import MailKind

_CONTACT = "contact"  # kind of a mail to the contact address


def owe_mails(decliner: Signer) -> None:
    """Have told, once the transaction commits: the member who sent the request, the organization's contact address,
    and, where the request mails its signers, those of the others who were invited or have signed."""
    request = decliner.request
    owe_mail(request, MailKind.DECLINED, decliner.pk)
    if request.organization.contact_email:
        mail = SenderMail.objects.create(
            name=f"{_CONTACT}-{request.pk}-{decliner.pk}", request=request, kind=_CONTACT, about=decliner.pk
        )
        defer("tell_contact_of_decline", name=mail.name)
    if request.send_email:
        others = request.signers.exclude(pk=decliner.pk).exclude(status=SignerStatus.PENDING)
        for signer_id in others.values_list("pk", flat=True):
            defer("tell_signer_of_decline", signer_id=signer_id)


def tell_contact_of_decline(name: str) -> None:
    """Mail the contact address who declined and why, with the signer as the one to answer; do nothing where there is no
    address any more.

    Safe to repeat. Raise ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put
    off.
    """
    mail_once(
        message_id(name),
        lambda: _due_to_contact(name),
        lambda _acknowledgement: SenderMail.objects.filter(pk=name).update(sent_at=clock.now()),
    )


def _due_to_contact(name: str) -> DueEmail | None:
    mail = SenderMail.objects.get(pk=name)
    decliner = _loaded(mail.about)
    contact = decliner.request.organization.contact_email
    if mail.sent_at or not contact:
        return None
    return DueEmail(decliner, decline_emails.to_contact(decliner), to=contact, reply_to=decliner.email)


def tell_signer_of_decline(signer_id: int) -> None:
    """Mail a signer that somebody else has declined. Safe to repeat. Raise as :func:`tell_contact_of_decline` does."""
    mail_once(
        f"declined-{signer_id}",
        lambda: _due_to_signer(signer_id),
        lambda _acknowledgement: Signer.objects.filter(pk=signer_id).update(decline_told_at=clock.now()),
    )


def _due_to_signer(signer_id: int) -> DueEmail | None:
    signer = _loaded(signer_id)
    return None if signer.decline_told_at else DueEmail(signer, decline_emails.to_signer(signer))


def _loaded(signer_id: int) -> Signer:
    related = ("request__organization", "request__branding_profile")
    return Signer.objects.select_related(*related).get(pk=signer_id)
