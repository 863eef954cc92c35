"""What operators can do about people: who sees /operator, what operators did, confirmed addresses, a person's data."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from paraph.flow.messages import emails
from paraph.flow.messages.limits import OutgoingMessage, counted
from paraph.flow.personal_data.erase import Kept
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import write_private
from paraph.messaging.email import send_email
from paraph.messaging.gateways import FinallyRefusedError
from paraph.messaging.sms import send_sms
from paraph.metrics import metrics
from paraph.pdf.typesetting.person_report import ReportedPlace, person_report
from paraph.signature_requests.models import Channel
from paraph.signature_requests.values import InvalidValueError, email, phone
from paraph.tenants import confirmed_addresses
from paraph.tenants.accounts import account, with_second_factor
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import Activity, ActorKind, ConfirmedAddress, Environment, Operator, User
from paraph.tenants.scope import existing


@transaction.atomic
def add_operator(actor: Actor, address: str) -> User:
    """Make the account of the address an operator's, and create the account if there is none; return it. Safe to
    repeat. Raise ``DomainError("validation_error", …)``."""
    user = account(address)
    if Operator.objects.get_or_create(user=user)[1]:
        note(None, actor, "operator.added", user.email)
    return user


@transaction.atomic
def remove_operator(actor: Actor, address: str) -> str:
    """Make the account an operator's no longer; return its address. Raise ``DomainError("not_found", …)``."""
    rows = Operator.objects.filter(user__email=address.strip().lower()).select_related("user")
    found = existing(rows, f"There is no operator {address}.")
    email = found.user.email
    found.delete()
    note(None, actor, "operator.removed", email)
    return email


def operators() -> list[dict[str, Any]]:
    rows = list(Operator.objects.select_related("user").order_by("user__email"))
    ready = with_second_factor([row.user_id for row in rows])
    return [
        {"email": row.user.email, "added_at": clock.iso(row.added_at), "second_factor": row.user_id in ready}
        for row in rows
    ]


def acts(limit: int) -> list[dict[str, Any]]:
    """Return the latest entries of operators in the logs of the installation and of all organizations, newest first."""
    rows = Activity.objects.filter(actor_kind=ActorKind.OPERATOR).order_by("-pk")[:limit]
    told = rows.values("id", "created_at", "actor", "ip", "organization_id", "action", "subject", "before", "after")
    return [{**row, "created_at": clock.iso(row["created_at"])} for row in told]


def write_person_file(out: Path, address: str, at: datetime, kept: Sequence[Kept]) -> None:
    """Write the PDF, readable by the service's user alone. Raise ``DomainError`` if it exists or cannot be written."""
    places = []
    for name, group in groupby(kept, lambda each: each.place):
        things = list(group)
        # The file is for the person, who cannot give the operators' command that erases the data.
        note = things[0].stays or "This can be erased, on request or by the organization."
        places.append(ReportedPlace(name, note, [each.facts for each in things]))
    content = person_report(address, at, places)
    try:
        write_private(out, content)
    except FileExistsError as error:
        raise DomainError("validation_error", f"{out} exists already.") from error
    except OSError as error:
        raise DomainError("configuration", f"{out} cannot be written: {error.strerror or error}.") from error


def ask_to_confirm(organization_id: int, recipient: str, actor: Actor, locale: str = "en") -> ConfirmedAddress:
    """Send a link with which the recipient can confirm the address or number within 7 days. Raise ``DomainError``:
    ``validation_error`` unless ``recipient`` is an address or a number, ``not_found`` for an unknown organization,
    ``rate_limited`` at a ceiling of messages, ``delivery_failed`` when the gateway does not take the message."""
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
