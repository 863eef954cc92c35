"""The channels on which a signer may get one-time codes (rule 4.5, ``otp_channel``)."""

from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Channel, Signer
from paraph.signature_requests.values import takes_sms
from paraph.tenants.limits import allowance


def channels(signer: Signer) -> list[Channel]:
    """Return the channel named at creation; without one, e-mail, and SMS too if a phone is known that takes codes and
    the plan allows it."""
    if signer.otp_channel:
        return [Channel(signer.otp_channel)]
    sms = signer.phone and takes_sms(signer.phone) and allowance(signer.request.organization.plan).sms
    return [Channel.EMAIL, Channel.SMS] if sms else [Channel.EMAIL]


def destination(signer: Signer, channel: str) -> tuple[Channel, str]:
    """Return the channel and the signer's address or number on it.

    Raise ``DomainError("validation_error", …)`` for a channel that this signer may not use.
    """
    allowed = channels(signer)
    if channel not in list(allowed):
        raise translated("validation_error", "field_choice", field="channel", values=", ".join(allowed))
    chosen = Channel(channel)
    return chosen, signer.phone if chosen == Channel.SMS else signer.email
