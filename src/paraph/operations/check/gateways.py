"""The mail and SMS gateways: connects and logs in to them, but sends nothing."""

from collections.abc import Callable, Iterator

from paraph.kernel.errors import DomainError
from paraph.messaging import email, sms
from paraph.operations.check.outcome import Outcome, failed, ok, warning


def mail_gateway() -> Iterator[Outcome]:
    yield _try_gateway("mail", email.check_gateway, "mail", "mails")


def sms_gateway() -> Iterator[Outcome]:
    yield _try_gateway("sms", sms.check_gateway, "SMS", "SMS")


def _try_gateway(name: str, check: Callable[[], str], kind: str, messages: str) -> Outcome:
    try:
        sentence = check()
    except (OSError, DomainError) as error:
        return failed(name, f"The {kind} gateway does not work: {_cause(error)}.")
    if sentence:
        return ok(name, sentence)
    return warning(name, f"No {kind} gateway is set: nobody receives the {messages} in the inbox.")


def _cause(error: Exception) -> str:
    text = error.message if isinstance(error, DomainError) else str(error)
    return (" ".join(text.split()) or type(error).__name__).rstrip(".")
