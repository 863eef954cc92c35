"""Ceilings of messages, each in one environment: to one address or number, of one organization, and of SMS to one
country. Where no gateway sends them, nothing is counted.

docs/decisions/messages.md says why, docs/configuration.md names the settings.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from phonenumbers import parse

from paraph.counts.counting import Ceiling, count, give_back
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import DAY, HOUR, PerHourAndDay
from paraph.messaging.gateways import destination_hash, has_gateway
from paraph.messaging.models import PutOffMail
from paraph.queue.jobs import Reschedule
from paraph.signature_requests.models import Channel, SignatureRequest
from paraph.tenants.confirmed_addresses import is_withheld
from paraph.tenants.limits import message_ceilings
from paraph.tenants.models import Environment, Organization

_CONFIRMATIONS_PER_DAY = 3
_KEPT_FOR = timedelta(days=1)  # after the moment until which a mail was put off

_REASONS = {
    "destination": "as many messages as one recipient may get were sent there",
    "destination-of": "as many messages as one recipient may get from this sender were sent there",
    "organization": "as many messages as this sender may send were sent",
    "confirmation": "as many questions for a confirmation as one recipient may get in a day were sent there",
    "sms-country": "as many SMS as may go to that country in a day were sent",
    "sms-organization": "as many SMS as this sender may send in a day were sent",
    "copy": "as many mails with a link to the copy as a signer may get in a day were sent",
}


@dataclass(frozen=True)
class OutgoingMessage:
    """A message to be counted. A ``withheld`` one goes to the captured inbox alone; ``is_question`` marks one that asks
    the recipient for a confirmation."""

    organization: Organization
    environment: str
    channel: Channel
    recipient: str
    withheld: bool = False
    is_question: bool = False


class TooManyMessagesError(DomainError, Reschedule):
    """Nothing was sent because a ceiling is reached (``reason``). There is room for the message at ``next_at``."""

    def __init__(self, reason: str, next_at: datetime) -> None:
        self.reason = reason
        self.next_at = next_at
        seconds = max(1, math.ceil((next_at - clock.now()).total_seconds()))
        minutes = math.ceil(seconds / 60)
        wait = f"{minutes} min" if minutes <= 120 else f"{math.ceil(minutes / 60)} hours"
        sentence = f"{reason[0].upper()}{reason[1:]}; try again in {wait}."
        super().__init__("rate_limited", sentence, seconds)


def message_about(request: SignatureRequest, channel: Channel, recipient: str) -> OutgoingMessage:
    """Return the message as it is counted: withheld where the sandbox may not write to the recipient."""
    withheld = is_withheld(request.organization_id, request.environment, recipient)
    return OutgoingMessage(request.organization, request.environment, channel, recipient, withheld)


@contextmanager
def counted(message: OutgoingMessage, *more: Ceiling, waits: bool) -> Iterator[None]:
    """Count a message that the block sends, and take it out of the counts again where the block raises ``OSError`` or
    ``DomainError``, as the gateway has not taken it then. ``more``: ceilings besides those of all messages.

    Raise :class:`TooManyMessagesError` where a ceiling is reached. With ``waits``, the caller tries again at
    ``next_at``, and each of many waiting messages gets a time at which there is room for it. Must not run within a
    transaction, which would keep the counts' rows locked.
    """
    positions = count([ceiling for ceiling in (*_ceilings(message), *more) if ceiling.limit])
    beyond = [position for position in positions if position.is_beyond]
    if beyond:
        give_back([position for position in positions if not (waits and position.is_beyond)])
        next_at, last = max((position.turn_comes_at if waits else position.ends_at, position) for position in beyond)
        raise TooManyMessagesError(_REASONS[last.ceiling.scope.partition(":")[0]], next_at)
    try:
        yield
    except (OSError, DomainError):
        give_back(positions)
        raise


def _ceilings(message: OutgoingMessage) -> Iterator[Ceiling]:
    """Yield the ceilings of a message; 0 means no ceiling. A withheld message counts for its sender alone: otherwise
    strangers could use up the recipient's messages and keep codes from them."""
    organization, environment = message.organization, message.environment
    if not has_gateway(message.channel):
        return
    of_plan = message_ceilings(organization.plan, environment)
    yield from _both(f"organization:{organization.pk}:{environment}", of_plan)
    if message.withheld:
        return
    recipient = destination_hash(message.recipient)
    yield from _of_recipient(recipient, organization, environment)
    if message.is_question:
        yield Ceiling(f"confirmation:{recipient}", DAY, _CONFIRMATIONS_PER_DAY)
    if message.channel == Channel.SMS:
        country = f"sms-country:{environment}:{parse(message.recipient, None).country_code}"
        yield Ceiling(country, DAY, settings.PARAPH.sms_per_country_and_day)
        of_organization = f"sms-organization:{environment}:{organization.pk}"
        yield Ceiling(of_organization, DAY, settings.PARAPH.sms_per_organization_and_day)


def _of_recipient(recipient: str, organization: Organization, environment: str) -> Iterator[Ceiling]:
    """Yield the ceilings of one recipient. In production the ceiling for one organization comes first, so that no other
    organization keeps codes from its signers; the one for all is well above it. In the sandbox, whose keys may cost
    nothing, there is one ceiling for all."""
    each, everybody = settings.PARAPH.messages_per_destination, settings.PARAPH.messages_per_destination_in_all
    if environment == Environment.SANDBOX:
        yield from _both(f"destination:sandbox:{recipient}", each)
        return
    yield from _both(f"destination-of:{organization.pk}:{recipient}", each)
    yield from _both(f"destination:production:{recipient}", everybody)


def _both(scope: str, limits: PerHourAndDay) -> Iterator[Ceiling]:
    yield Ceiling(scope, HOUR, limits.per_hour)
    yield Ceiling(scope, DAY, limits.per_day)


def note_put_off(name: str, refusal: TooManyMessagesError) -> None:
    """Note that the mail with this ``name`` (:func:`paraph.flow.messages.sent_once.mail_once`) waits. The note stays
    when the mail is out."""
    PutOffMail.objects.update_or_create(name=name, defaults={"until": refusal.next_at, "reason": refusal.reason})


def put_off(names: Iterable[str]) -> dict[str, PutOffMail]:
    """Return, by name, the notes of the mails among these that still wait."""
    return PutOffMail.objects.filter(until__gt=clock.now()).in_bulk(list(names))


def forget_put_off() -> int:
    """Delete the notes of mails whose time came more than a day ago; return how many."""
    return PutOffMail.objects.filter(until__lt=clock.now() - _KEPT_FOR).delete()[0]
