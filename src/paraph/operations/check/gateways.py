"""The mail and SMS gateways: the check connects and logs in, but sends nothing."""

from collections.abc import Callable, Iterator

from paraph.kernel.errors import DomainError
from paraph.messaging import email, sms
from paraph.messaging.gateways import EMAIL, SMS, is_refused
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.tenants.models import Environment


def mail_gateway() -> Iterator[Outcome]:
    yield _try_gateway("mail", email.check_gateway, "mail", "mails", EMAIL)


def sms_gateway() -> Iterator[Outcome]:
    yield _try_gateway("sms", sms.check_gateway, "SMS", "SMS", SMS)


def _try_gateway(name: str, check: Callable[[], str], kind: str, messages: str, channel: str) -> Outcome:
    try:
        sentence = check()
    except (OSError, DomainError) as error:
        return failed(name, f"The {kind} gateway does not work: {_cause(error)}.")
    if sentence:
        return ok(name, sentence)
    if is_refused(Environment.PRODUCTION, channel):
        return _refused(name, kind, messages)
    return warning(name, f"No {kind} gateway is configured: nobody receives the {messages} in the inbox.")


def _refused(name: str, kind: str, messages: str) -> Outcome:
    """Report which messages are refused. A service without SMS may be what its operator wants; without mails nobody can
    sign in production."""
    variable = "PARAPH_SMTP_URL" if name == "mail" else "PARAPH_SMS_URL"
    tell = failed if name == "mail" else warning
    return tell(
        name,
        f"No {kind} gateway is configured, so {messages} of production are refused: set {variable}, or "
        "PARAPH_MAIL=captured to have them kept in the inbox, where nobody receives them.",
    )


def _cause(error: Exception) -> str:
    text = error.message if isinstance(error, DomainError) else str(error)
    return (" ".join(text.split()) or type(error).__name__).rstrip(".")
