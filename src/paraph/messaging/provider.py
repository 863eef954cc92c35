"""Sending mail through the HTTP interface of a provider that django-anymail supports, instead of SMTP."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage, get_connection

from paraph.kernel.errors import DomainError


def hand_over(message: EmailMessage) -> str:
    """Send the message and return the provider's name and id for it. Raise ``OSError`` when the provider does not
    take it, ``DomainError("configuration", …)`` as :func:`backend` does."""
    connection = backend()
    from anymail.exceptions import AnymailError  # noqa: PLC0415  an extra

    try:
        connection.send_messages([message])
    except AnymailError as error:
        raise OSError(f"{settings.PARAPH.mail_provider} did not take the message: {type(error).__name__}") from error
    status: Any = getattr(message, "anymail_status", None)
    return f"{settings.PARAPH.mail_provider} {status.message_id if status else ''}".strip()


def backend() -> Any:
    """Return the provider's mail backend. Raise ``DomainError("configuration", …)`` when the extra, the provider or
    one of its settings is missing."""
    name = settings.PARAPH.mail_provider
    try:
        return get_connection(f"anymail.backends.{name}.EmailBackend")
    except ModuleNotFoundError as error:
        missing = (error.name or "").startswith("anymail.backends")
        sentence = f"there is no mail provider {name!r}" if missing else "it needs the extra paraph[mail]"
        raise DomainError("configuration", f"PARAPH_MAIL_PROVIDER: {sentence}.") from error
    except ImproperlyConfigured as error:
        cause = str(error).splitlines()[0].rstrip(".")
        raise DomainError("configuration", f"PARAPH_MAIL_PROVIDER_SETTINGS: {cause}.") from error
