"""Mailing the link to their copy once more, to those who come back for it: to their own address alone."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paraph.counts import counting
from paraph.flow.messages import emails
from paraph.flow.messages.copy_emails import copy_email
from paraph.flow.messages.emails import copy_link
from paraph.flow.messages.limits import OutgoingMessage, TooManyMessagesError, counted
from paraph.kernel.errors import DomainError
from paraph.kernel.places import machine_of_others
from paraph.kernel.rates import DAY
from paraph.messaging.email import send_email
from paraph.messaging.gateways import is_refused
from paraph.messaging.letters import EmailContent
from paraph.metrics import metrics
from paraph.signature_requests.models import Channel, CopyRecipient, Signer, SignerStatus
from paraph.tenants.confirmed_addresses import is_withheld
from paraph.tenants.scope import tenant_key

_A_DAY = 3

log = logging.getLogger("paraph.flow")


def may_mail_copy(signer: Signer) -> bool:
    """Return whether there is a copy, and the organization lets its signers have it by a link in a mail."""
    request = signer.request
    signed = signer.status == SignerStatus.SIGNED
    can_be_sent = not is_refused(request.environment, Channel.EMAIL)
    wanted = signed and request.organization.mails_copy_links
    return wanted and can_be_sent and request.finalized and not request.files_deleted_at


def mail_copy(signer: Signer) -> None:
    """Mail the summary at completion anew, with a new link.

    Raise ``DomainError``: ``not_found`` where there is no copy to be had, :class:`TooManyMessagesError` after three
    mails in a day or at a ceiling of messages, ``delivery_failed`` when the gateway does not take the mail,
    ``unavailable`` while too many threads wait for it. Must not run within a transaction.
    """
    if not may_mail_copy(signer):
        raise DomainError("not_found", "There is no copy to be mailed.")
    _mail(signer, lambda: emails.completion(signer, copy_link(signer)))


def mail_recipient(recipient: CopyRecipient) -> None:
    """Mail somebody who gets a copy a new link. Raise as :func:`mail_copy` does."""
    request = recipient.request
    can_be_sent = not is_refused(request.environment, Channel.EMAIL)
    if not (can_be_sent and request.finalized and not request.files_deleted_at):
        raise DomainError("not_found", "There is no copy to be mailed.")
    _mail(recipient, lambda: copy_email(recipient))


def was_mailed(to: Signer | CopyRecipient) -> bool:
    """Return whether the link was mailed once more within about a day."""
    return counting.number_of(_ceiling(to).scope) > 0


def _mail(to: Signer | CopyRecipient, written: Callable[[], EmailContent]) -> None:
    request = to.request
    withheld = is_withheld(request.organization_id, request.environment, to.email)
    message = OutgoingMessage(request.organization, request.environment, Channel.EMAIL, to.email, withheld)
    with machine_of_others(tenant_key(request)), _counted(to), counted(message, waits=False):
        _deliver(to.email, written(), withheld=withheld)


def _deliver(address: str, content: EmailContent, *, withheld: bool) -> None:
    try:
        with metrics.message("email", "message"):
            send_email(address, content.subject, content.text, content.html, logo=content.logo, withheld=withheld)
    except OSError as error:
        raise _not_delivered() from error
    except DomainError as error:
        if error.code != "configuration":
            raise
        log.error("the gateway for email cannot be used: %s", error.message)
        raise _not_delivered() from error


@contextmanager
def _counted(to: Signer | CopyRecipient) -> Iterator[None]:
    """Count a mail to this person, which the block sends; take it back where none was sent."""
    positions = counting.count([_ceiling(to)])
    try:
        if positions[0].is_beyond:
            raise TooManyMessagesError(
                "as many mails with a link to the copy as a signer may get in a day were sent",
                positions[0].ends_at,
            )
        yield
    except DomainError:
        counting.give_back(positions)
        raise


def _ceiling(to: Signer | CopyRecipient) -> counting.Ceiling:
    kind = "copy" if isinstance(to, Signer) else "copy-recipient"
    return counting.Ceiling(f"{kind}:{to.pk}", DAY, _A_DAY)


def _not_delivered() -> DomainError:
    return DomainError("delivery_failed", "The mail could not be sent; try again in a moment.")
