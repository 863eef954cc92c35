"""Sending a one-time code, within the HTTP request of the signer who waits for it (rule 4.11)."""

import logging
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from paraph.audit_trail.journal import Origin
from paraph.flow import events
from paraph.flow.events import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.limits import counted, message_about
from paraph.flow.messages.sent_once import delivering, note_undelivered
from paraph.kernel.places import machine_of_others
from paraph.messaging.email import send_email
from paraph.messaging.gateways import has_gateway, is_refused
from paraph.messaging.sms import send_sms
from paraph.otp import codes, guesses
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Channel, Signer
from paraph.signature_requests.signing import require_open
from paraph.tenants.models import Environment
from paraph.tenants.scope import tenant_key

log = logging.getLogger("paraph.flow")


@dataclass(frozen=True)
class SentCode:
    """A code on its way. ``recipient``: where it goes, masked. ``is_kept``: nothing sends it. ``sandbox_code`` is the
    code itself, None in production (rule 4.11)."""

    recipient: str
    channel: str
    is_kept: bool
    sandbox_code: str | None


def send_otp(signer: Signer, channel: str, origin: Origin, locale: str = "") -> SentCode:
    """Issue a code, hand it to the gateway and log that. ``locale`` is the language of the message, by default
    the request's.

    Raise ``DomainError`` as :func:`require_open` does, ``validation_error`` for a channel that is not the signer's,
    ``too_many_attempts`` while no code would be taken, ``rate_limited`` after 5 codes in 10 minutes or at a ceiling of
    messages. Raise ``delivery_failed`` where nothing sends it (:func:`paraph.messaging.gateways.is_refused`), and when
    the gateway does not take the message, which counts nowhere, leaves an earlier code valid, and is journaled only
    where the recipient is refused for good. Raise ``unavailable`` before anything is done while no more threads may
    wait (:mod:`paraph.kernel.places`).
    """
    require_open(signer)
    chosen, recipient = codes.destination(signer, channel)
    _require_gateway(signer, chosen)
    guesses.require_open(signer, recipient)  # before a ceiling of messages, which would be over earlier
    place = machine_of_others(tenant_key(signer.request)) if has_gateway(chosen) else nullcontext()
    message = message_about(signer.request, chosen, recipient)
    with place, counted(message, waits=False), codes.handed_over(signer, chosen, recipient) as issued:
        acknowledgement = _deliver(signer, chosen, recipient, issued.code, locale, withheld=message.withheld)
    with transaction.atomic():
        signer = lock_signer(signer.pk)
        codes.mark_sent(signer, issued)
        if (signer.undelivered or {}).get("mail") == f"code-{chosen.value}":
            signer.undelivered = None
            signer.save(update_fields=["undelivered"])
        events.otp_sent(signer, chosen, recipient, resend=issued.resend, acknowledgement=acknowledgement, origin=origin)
    sandbox = signer.request.environment == Environment.SANDBOX
    return SentCode(masked(recipient), chosen, is_kept(signer, chosen), issued.code if sandbox else None)


def is_kept(signer: Signer, channel: str) -> bool:
    """Return whether the signer's codes stay with the service, since nothing sends them. The sandbox shows its own."""
    return signer.request.environment == Environment.PRODUCTION and not has_gateway(channel)


def _require_gateway(signer: Signer, channel: Channel) -> None:
    if is_refused(signer.request.environment, channel):
        log.error("no code is sent: no gateway for %s is set", channel.value)
        raise translated("delivery_failed", "no_sms_gateway" if channel == Channel.SMS else "no_mail_server")


def _deliver(signer: Signer, channel: Channel, recipient: str, code: str, locale: str, *, withheld: bool) -> str:
    sentence = "The code could not be sent; try again in a moment."
    refused = partial(note_undelivered, signer, f"code-{channel.value}", channel=channel)
    with delivering(channel.value, "code", sentence, refused):
        if channel == Channel.SMS:
            return send_sms(recipient, emails.one_time_code_sms(signer, code, locale), withheld=withheld)
        return send_email(recipient, emails.one_time_code(signer, code, locale), withheld=withheld)


def masked(recipient: str) -> str:
    """Mask an address or number: its owner recognises it, others cannot learn it."""
    name, at, domain = recipient.rpartition("@")
    return f"{name[0]}•••@{domain}" if at and name else f"•••{recipient[-2:]}"
