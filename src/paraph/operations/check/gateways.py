"""The mail and SMS gateways: connects and logs in to them, but sends nothing."""

from collections.abc import Iterator

from paraph.kernel.errors import DomainError
from paraph.messaging import email, sms
from paraph.operations.check.outcome import Outcome, failed, ok, warning


def mail_gateway() -> Iterator[Outcome]:
    try:
        sentence = email.check_gateway()
    except (OSError, DomainError) as error:
        yield failed("mail", f"The mail gateway does not work: {_cause(error)}.")
        return
    yield (
        ok("mail", sentence)
        if sentence
        else warning("mail", "No mail gateway is set: nobody receives the mails in the inbox.")
    )


def sms_gateway() -> Iterator[Outcome]:
    try:
        sentence = sms.check_gateway()
    except (OSError, DomainError) as error:
        yield failed("sms", f"The SMS gateway does not work: {_cause(error)}.")
        return
    yield (
        ok("sms", sentence)
        if sentence
        else warning("sms", "No SMS gateway is set: nobody receives the SMS in the inbox.")
    )


def _cause(error: Exception) -> str:
    text = error.message if isinstance(error, DomainError) else str(error)
    return (" ".join(text.split()) or type(error).__name__).rstrip(".")
