"""Mail those concerned that a signer has declined, each once: the sender, and other signers where they are mailed."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from paraph.flow.messages import decline_emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.flow.messages.tell_sender import is_owed, message_id, owe_mail
from paraph.kernel import clock
from paraph.queue.jobs import defer
from paraph.signature_requests.models import ERASED_DOMAIN, SenderMail, SignatureRequest, Signer, SignerStatus
from paraph.tenants.models import MailKind

_CONTACT = "contact"  # kind of a mail to the contact address


def owe_mails(decliner: Signer) -> None:
    """Queue the mails about a decline, to be sent once the transaction commits: to the member who sent the request, to
    the organization's contact address and, where the request mails its signers, to the others who were invited or have
    signed."""
    request = decliner.request
    owe_mail(request, MailKind.DECLINED, decliner.pk)
    if request.organization.contact_email:
        mail = SenderMail.objects.create(
            name=f"{_CONTACT}-{request.pk}-{decliner.pk}", request=request, kind=_CONTACT, about=decliner.pk
        )
        defer("tell_contact_of_decline", name=mail.name)
    if request.send_email:
        for signer_id in _others(decliner).values_list("pk", flat=True):
            defer("tell_signer_of_decline", signer_id=signer_id)


class OwedMail(NamedTuple):
    """A mail about a decline that is not out yet. ``task`` and ``arguments``: those of the job that sends it; ``name``:
    that of the mail in the captured inbox."""

    task: str
    arguments: dict[str, int | str]
    to: str
    name: str


def owed_mails(request: SignatureRequest) -> Iterator[OwedMail]:
    """Yield the mails about a decline of the request that are not out yet."""
    decliner = request.declined_by
    if decliner is None:
        return
    noted = SenderMail.objects.filter(request=request, about=decliner.pk, sent_at=None)
    for name in noted.filter(kind=MailKind.DECLINED).values_list("pk", flat=True):
        if is_owed(name):
            yield OwedMail("tell_sender", {"name": name}, "the sender", message_id(name))
    for name in noted.filter(kind=_CONTACT).values_list("pk", flat=True):
        if request.organization.contact_email:
            yield OwedMail("tell_contact_of_decline", {"name": name}, "the contact address", message_id(name))
    untold = _others(decliner).filter(decline_told_at=None).exclude(email__endswith=ERASED_DOMAIN)
    for signer in untold.select_related("request") if request.send_email else ():
        yield OwedMail(
            "tell_signer_of_decline", {"signer_id": signer.pk}, signer.full_name, _message_to_signer(signer.pk)
        )


def _others(decliner: Signer) -> QuerySet[Signer]:
    """Return the other signers who were invited or have signed."""
    return decliner.request.signers.exclude(pk=decliner.pk).exclude(status=SignerStatus.PENDING)


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
        _message_to_signer(signer_id),
        lambda: _due_to_signer(signer_id),
        lambda _acknowledgement: Signer.objects.filter(pk=signer_id).update(decline_told_at=clock.now()),
    )


def _message_to_signer(signer_id: int) -> str:
    return f"declined-{signer_id}"


def _due_to_signer(signer_id: int) -> DueEmail | None:
    signer = _loaded(signer_id)
    return None if signer.decline_told_at else DueEmail(signer, decline_emails.to_signer(signer))


def _loaded(signer_id: int) -> Signer:
    related = ("request__organization", "request__branding_profile")
    return Signer.objects.select_related(*related).get(pk=signer_id)
