"""Confirming an address or number, to which messages of an organization's sandbox then go (``PARAPH_SANDBOX_MAIL``)."""

from django.conf import settings
from django.db import transaction

from paraph.flow.messages import emails
from paraph.flow.messages.limits import OutgoingMessage, counted
from paraph.kernel.errors import DomainError
from paraph.messaging.email import send_email
from paraph.messaging.gateways import FinallyRefusedError
from paraph.messaging.sms import send_sms
from paraph.metrics import metrics
from paraph.signature_requests.models import Channel
from paraph.signature_requests.values import InvalidValueError, email, phone
from paraph.tenants import confirmed_addresses
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import ConfirmedAddress, Environment


def ask_to_confirm(organization_id: int, recipient: str, actor: Actor, locale: str = "en") -> ConfirmedAddress:
    """Send the address or number a link with which the recipient can confirm it for 7 days.

    Raise ``DomainError``: ``validation_error`` unless ``recipient`` is an address or a number, ``not_found`` for an
    unknown organization, ``rate_limited`` at a ceiling of messages, ``delivery_failed`` when the gateway does not take
    the message.
    """
    channel = _channel(recipient)
    with transaction.atomic():
        row, token = confirmed_addresses.ask(organization_id, recipient)
        _note(row, actor, Action.ADDRESS_ASKED)
    url = f"{settings.PARAPH.public_url}/confirm/{token}?lang={locale}"
    content = emails.confirmation(row.organization.name, row.address, locale, url)
    message = OutgoingMessage(row.organization, Environment.SANDBOX, channel, row.address, is_question=True)
    try:
        with counted(message, waits=False), metrics.message(channel.value, "message"):
            if channel == Channel.SMS:
                send_sms(row.address, f"{content.subject}: {url}")
            else:
                send_email(row.address, content)
    except FinallyRefusedError as error:
        raise DomainError("delivery_failed", f"The address or number refuses our messages: {error}") from error
    except OSError as error:
        raise DomainError("delivery_failed", "The gateway did not take the message; try again in a moment.") from error
    return row


@transaction.atomic
def vouch_for(organization_id: int, recipient: str, actor: Actor) -> ConfirmedAddress:
    """Confirm the address or number on behalf of its owner. Raise ``DomainError`` as :func:`ask_to_confirm` does."""
    _channel(recipient)
    row = confirmed_addresses.vouch(organization_id, recipient)
    _note(row, actor, Action.ADDRESS_VOUCHED_FOR)
    return row


@transaction.atomic
def withdraw_confirmation(organization_id: int, recipient: str, actor: Actor) -> ConfirmedAddress:
    """Withhold messages to the address or number again. Raise ``DomainError`` as :func:`ask_to_confirm` does."""
    _channel(recipient)
    row = confirmed_addresses.withdraw(organization_id, recipient)
    _note(row, actor, Action.ADDRESS_WITHDRAWN)
    return row


def _note(row: ConfirmedAddress, actor: Actor, action: Action) -> None:
    """Note the act by the number of the row alone: the address goes with the organization, the log stays."""
    note(row.organization_id, actor, action, f"confirmed address {row.pk}", after={"channel": _channel(row.address)})


def _channel(recipient: str) -> Channel:
    try:
        if "@" in recipient:
            email(recipient.strip())
            return Channel.EMAIL
        phone(recipient.strip())
        return Channel.SMS
    except InvalidValueError as problem:
        raise DomainError("validation_error", f"address: {problem}") from problem
