"""Whether messages leave the service: where nothing sends them they are kept, or refused where nobody wants that. And
hashes of addresses and numbers, where these are only compared."""

from django.conf import settings

from paraph.kernel import tokens

EMAIL, SMS = "email", "sms"


def has_gateway(channel: str) -> bool:
    """Return whether the operator has set what sends messages of this channel ("email" or "sms")."""
    asked = settings.PARAPH
    return bool(asked.sms_url) if channel == SMS else bool(asked.smtp_url or asked.mail_provider)


def is_refused(environment: str, channel: str) -> bool:
    """Return whether messages of production are refused since nothing sends them: on a service with a public address
    that was not told to keep them (``PARAPH_MAIL=captured``). There somebody waits for them."""
    asked = settings.PARAPH
    return environment == "production" and asked.is_public and asked.mail != "captured" and not has_gateway(channel)


def destination_hash(recipient: str) -> str:
    """Return a keyed hash (32 digits) of an address, ignoring its case, or of a number in E.164 form."""
    named = recipient.strip().lower().encode("utf-8", "replace")
    return tokens.keyed_hash(settings.SECRETS.key("destination"), named).hex()[:32]
