"""How many messages may be sent: to one address or number, by one organization, and of SMS to one country.

docs/decisions/messages.md says why, docs/configuration.md names the settings.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from phonenumbers import parse

from paraph.flow.messages.counts import Ceiling, count, give_back
from paraph.kernel import clock
from paraph.kernel.ceilings import DAY, HOUR, PerHourAndDay
from paraph.kernel.errors import DomainError
from paraph.messaging.destination import destination_hash
from paraph.organizations.models import Organization
from paraph.organizations.plans import message_ceilings
from paraph.signature_requests.models import Channel, Signer

_CONFIRMATIONS = 3

_REASONS = {
    "destination": "as many messages as one recipient may get were sent there",
    "organization": "as many messages as this sender may send were sent",
    "confirmation": "as many questions for a confirmation as one recipient may get in a day were sent there",
    "sms-country": "as many SMS as may go to that country in a day were sent",
    "sms-organization": "as many SMS as this sender may send in a day were sent",
}


@dataclass(frozen=True)
class Addressed:
    """Whom a message goes to, and for whom. ``withheld``: it is kept for the inbox and reaches nobody. ``unasked``: it
    asks somebody for a confirmation."""

    organization: Organization
    environment: str
    channel: Channel
    recipient: str
    withheld: bool = False
    unasked: bool = False


class TooManyMessagesError(DomainError):
    """Nothing was sent. ``next_at`` is when there is room, ``reason`` why there is none."""

    def __init__(self, reason: str, next_at: datetime) -> None:
        self.reason = reason
        self.next_at = next_at
        self.retry_after = max(1, math.ceil((next_at - clock.now()).total_seconds()))
        super().__init__(
            "rate_limited", f"{reason[0].upper()}{reason[1:]}; try again in {_duration(self.retry_after)}."
        )


def addressed(signer: Signer, channel: Channel, recipient: str, *, withheld: bool) -> Addressed:
    """A message to this signer."""
    return Addressed(signer.request.organization, signer.request.environment, channel, recipient, withheld)


@contextmanager
def counted(message: Addressed, *, waits: bool) -> Iterator[None]:
    """The block sends the message, which is counted before; it is taken out of the count again where the block raises
    ``OSError`` or ``DomainError``: then the gateway did not take it.

    Raises :class:`TooManyMessagesError` where a ceiling is reached. ``waits``: the message will be asked for again at
    ``next_at``, so that each of many that wait is told a time at which there is room for it. Not within a
    transaction: the counts' rows would stay locked.
    """
    places = count(list(_ceilings(message)))
    beyond = [place for place in places if place.is_beyond]
    if beyond:
        give_back([place for place in places if not (waits and place.is_beyond)])
        next_at, last = max((place.turn_comes_at if waits else place.window_ends_at, place) for place in beyond)
        raise TooManyMessagesError(_REASONS[last.ceiling.scope.partition(":")[0]], next_at)
    try:
        yield
    except (OSError, DomainError):
        give_back(places)
        raise


def _ceilings(message: Addressed) -> Iterator[Ceiling]:
    """What is withheld uses up nobody's but the sender's: strangers could keep a person's codes away with it."""
    organization = message.organization
    own = message_ceilings(organization.plan, message.environment)
    yield from _both(f"organization:{organization.pk}:{message.environment}", own)
    if message.withheld:
        return
    recipient = destination_hash(message.recipient).hex()
    yield from _both(f"destination:{recipient}", settings.PARAPH.messages_per_destination)
    if message.unasked:
        yield Ceiling(f"confirmation:{recipient}", DAY, _CONFIRMATIONS)
    if message.channel == Channel.SMS:
        country = f"sms-country:{parse(message.recipient, None).country_code}"
        yield from _daily(country, settings.PARAPH.sms_per_country_and_day)
        yield from _daily(f"sms-organization:{organization.pk}", settings.PARAPH.sms_per_organization_and_day)


def _both(scope: str, most: PerHourAndDay) -> Iterator[Ceiling]:
    if most.per_hour:
        yield Ceiling(scope, HOUR, most.per_hour)
    yield from _daily(scope, most.per_day)


def _daily(scope: str, most: int) -> Iterator[Ceiling]:
    if most:
        yield Ceiling(scope, DAY, most)


def _duration(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return f"{minutes} min" if minutes <= 120 else f"{-(-minutes // 60)} hours"
