"""Decline for a signer, which ends the request for everybody, and mail those concerned."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from paraph.audit_trail.append import Origin
from paraph.flow import events
from paraph.flow.events import lock_holder
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.flow.messages.tell_sender import is_pending, message_id, queue_mail
from paraph.flow.signing.ask import plain_text
from paraph.kernel import clock
from paraph.queue.jobs import defer
from paraph.signature_requests.fields.store import forget_entries
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import (
    ERASED_DOMAIN,
    RequestStatus,
    SenderMail,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signature_requests.values import LONGEST_REASON
from paraph.tenants.admin_log import SIGNER, Action, note
from paraph.tenants.models import MailKind


def require_declinable(signer: Signer) -> None:
    """Raise ``DomainError`` ``decline_not_allowed`` where the request does not let its signers decline, else as
    :func:`require_open` does."""
    if not signer.request.decline_allowed:
        raise translated("decline_not_allowed", "decline_not_allowed")
    require_open(signer)


def decline(signer: Signer, reason: str, origin: Origin, *, sandbox_act: bool = False) -> SignatureRequest:
    """End the request early for the signer's reason and return it; the signer's status stays.

    Takes the row lock that signing takes, so that of a last signature and a decline at the same time only one happens.
    Raise what :func:`require_declinable` and :func:`lock_holder` raise, and ``validation_error`` for a reason that is
    blank or longer than 500 characters.
    """
    require_declinable(signer)
    reason = checked_reason(reason)
    with transaction.atomic():
        signer = lock_holder(signer)
        moment = clock.now()
        require_open(signer, moment)
        request = signer.request
        request.status, request.ended_early_at, request.ended_reason = RequestStatus.EXPIRED, moment, reason
        request.declined_by = signer
        request.save(update_fields=["status", "ended_early_at", "ended_reason", "declined_by"])
        forget_entries(request)
        events.request_declined(signer, reason, origin, sandbox_act=sandbox_act)
        queue_mails(signer)
        note(request.organization_id, SIGNER, Action.SIGNER_DECLINED, f"request {request.pk}, signer {signer.pk}")
    return request


def checked_reason(reason: str) -> str:
    """Return the reason as it is kept: each end of a line one character, without control characters."""
    reason = plain_text(reason)
    if not reason:
        raise translated("validation_error", "field_missing", field="reason")
    if len(reason) > LONGEST_REASON:
        raise translated("validation_error", "field_text", field="reason", most=LONGEST_REASON)
    return reason


_CONTACT = "contact"  # kind of a mail to the contact address


def queue_mails(decliner: Signer) -> None:
    """Queue the mails about a decline, to be sent once the transaction commits: to the member who sent the request, to
    the organization's contact address and, where the request mails its signers, to the others who were invited or have
    signed."""
    request = decliner.request
    queue_mail(request, MailKind.DECLINED, decliner.pk)
    if request.organization.contact_email:
        mail = SenderMail.objects.create(
            name=f"{_CONTACT}-{request.pk}-{decliner.pk}", request=request, kind=_CONTACT, about=decliner.pk
        )
        defer("tell_contact_of_decline", name=mail.name)
    if request.send_email:
        for signer_id in _others(decliner).values_list("pk", flat=True):
            defer("tell_signer_of_decline", signer_id=signer_id)


class PendingMail(NamedTuple):
    """A mail about a decline that is not out yet. ``task`` and ``arguments``: those of the job that sends it; ``name``:
    that of the mail in the captured inbox."""

    task: str
    arguments: dict[str, int | str]
    to: str
    name: str


def pending_mails(request: SignatureRequest) -> Iterator[PendingMail]:
    """Yield the mails about a decline of the request that are not out yet."""
    decliner = request.declined_by
    if decliner is None:
        return
    noted = SenderMail.objects.filter(request=request, about=decliner.pk, sent_at=None)
    for name in noted.filter(kind=MailKind.DECLINED).values_list("pk", flat=True):
        if is_pending(name):
            yield PendingMail("tell_sender", {"name": name}, "the sender", message_id(name))
    for name in noted.filter(kind=_CONTACT).values_list("pk", flat=True):
        if request.organization.contact_email:
            yield PendingMail("tell_contact_of_decline", {"name": name}, "the contact address", message_id(name))
    untold = _others(decliner).filter(decline_told_at=None).exclude(email__endswith=ERASED_DOMAIN)
    for signer in untold.select_related("request") if request.send_email else ():
        yield PendingMail(
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
    return DueEmail(decliner, emails.declined_to_contact(decliner), to=contact, reply_to=decliner.email)


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
    return None if signer.decline_told_at else DueEmail(signer, emails.declined_to_signer(signer))


def _loaded(signer_id: int) -> Signer:
    related = ("request__organization", "request__branding_profile")
    return Signer.objects.select_related(*related).get(pk=signer_id)
