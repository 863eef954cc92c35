"""Mails that lead to the sealed documents: to signers once everybody has signed (rule 4.5,
``notify_signers_on_completion``), to those who get copies, and to both once more when they ask for it."""

from collections.abc import Callable

from django.db import transaction

from paraph.audit_trail.models import Entry, EventType
from paraph.counts import counting
from paraph.flow import events
from paraph.flow.events import lock_request
from paraph.flow.messages.emails import completion, copy_email, copy_link
from paraph.flow.messages.limits import counted, message_about
from paraph.flow.messages.sent_once import READ_ALONG, DueEmail, delivering, mail_name, mail_rows_once
from paraph.kernel.errors import DomainError
from paraph.kernel.places import machine_of_others
from paraph.kernel.rates import DAY
from paraph.messaging import gateways
from paraph.messaging.email import send_email
from paraph.messaging.gateways import EMAIL, has_gateway, is_refused
from paraph.messaging.letters import EmailContent
from paraph.signature_requests.models import (
    ERASED_DOMAIN,
    Channel,
    CopyRecipient,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.tenants.confirmed_addresses import is_withheld
from paraph.tenants.scope import tenant_key


def mails_leave(signer: Signer) -> bool:
    """Return whether mails to the signer are handed to a mail server; otherwise they are kept or refused."""
    request = signer.request
    return has_gateway(EMAIL) and not is_withheld(request.organization_id, request.environment, signer.email)


def notify_completion(request_id: int) -> None:
    """Mail the summary to each signer once, then journal ``request.completion_notified``. Safe to repeat: signers who
    have the mail are left out. Raise ``OSError`` when the gateway does not take a mail, ``TooManyMessagesError`` where
    one is put off, in both cases after the mails to the other signers."""
    signers = Signer.objects.filter(request_id=request_id).order_by("order")
    mail_rows_once("completion", signers.select_related(*READ_ALONG), "completion_notified_at", _summary)
    reached = signers.filter(undelivered__isnull=True)
    _journal(request_id, {mail_name("completion", signer.pk): signer.email for signer in reached})


def _summary(signer: Signer) -> DueEmail | None:
    if signer.undelivered:
        return None
    wanted = signer.request.organization.mails_copy_links
    return DueEmail(signer, completion(signer, copy_link(signer) if wanted else None))


def mail_copies(request_id: int) -> None:
    """Mail those who get a copy and take no other part once, then journal ``request.completion_notified`` with those
    who were mailed. Otherwise as :func:`notify_completion`."""
    recipients = CopyRecipient.objects.filter(request=request_id).exclude(email__endswith=ERASED_DOMAIN)
    mail_rows_once("copy", recipients.select_related(*READ_ALONG), "notified_at", _due_copy)
    mailed = recipients.exclude(notified_at=None)  # nobody is mailed once the files are deleted
    _journal(request_id, {mail_name("copy", recipient.pk): recipient.email for recipient in mailed}, copies=True)


@transaction.atomic
def _journal(request_id: int, addresses: dict[str, str], *, copies: bool = False) -> None:
    """Journal, once, the mails to these addresses, each by the name under which it was sent."""
    request = lock_request(request_id)
    told = Entry.objects.filter(request=request, event_type=EventType.COMPLETION_NOTIFIED)
    if addresses and copies not in [entry.metadata.get("copies", False) for entry in told]:
        events.completion_notified(request, list(addresses.values()), gateways.captured(addresses), copies=copies)


def _due_copy(recipient: CopyRecipient) -> DueEmail | None:
    request = recipient.request
    if recipient.undelivered or request.files_deleted_at:
        return None
    signer = Signer.objects.filter(request=request).order_by("order")[0]
    signer.request = request
    return DueEmail(signer, copy_email(recipient), copy=recipient)


_MOST_AGAIN = 3  # in a day


def may_mail_copy(signer: Signer) -> bool:
    """Return whether there is a copy, and the organization lets its signers have it by a link in a mail."""
    signed = signer.status == SignerStatus.SIGNED
    return signed and signer.request.organization.mails_copy_links and _has_copies(signer.request)


def _has_copies(request: SignatureRequest) -> bool:
    return request.finalized and not request.files_deleted_at and not is_refused(request.environment, EMAIL)


def mail_copy(signer: Signer) -> None:
    """Mail the summary at completion anew, with a new link, to the signer's own address. Raise ``DomainError``:
    ``not_found`` where there is no copy to be had, :class:`TooManyMessagesError` after three mails in a day or at a
    ceiling of messages, ``delivery_failed`` when the gateway does not take the mail, ``unavailable`` while too many
    threads wait for it. Must not run within a transaction."""
    _mail_again(signer, lambda: completion(signer, copy_link(signer)), may=may_mail_copy(signer))


def mail_recipient(recipient: CopyRecipient) -> None:
    """Mail somebody who gets a copy a new link. Raise as :func:`mail_copy` does."""
    _mail_again(recipient, lambda: copy_email(recipient), may=_has_copies(recipient.request))


def was_mailed(to: Signer | CopyRecipient) -> bool:
    """Return whether the link was mailed once more within about a day."""
    return counting.number_of(_again(to).scope) > 0


def _mail_again(to: Signer | CopyRecipient, write: Callable[[], EmailContent], *, may: bool) -> None:
    if not may:
        raise DomainError("not_found", "There is no copy to be mailed.")
    message = message_about(to.request, Channel.EMAIL, to.email)
    with machine_of_others(tenant_key(to.request)), counted(message, _again(to), waits=False):
        content = write()
        with delivering("email", "message", "The mail could not be sent; try again in a moment."):
            send_email(to.email, content, withheld=message.withheld)


def _again(to: Signer | CopyRecipient) -> counting.Ceiling:
    kind = "signer" if isinstance(to, Signer) else "recipient"
    return counting.Ceiling(f"copy:{kind}:{to.pk}", DAY, _MOST_AGAIN)
