"""The gateways of mail and SMS: reached and logged in to, without sending anything."""

from collections.abc import Iterator

from paraph.kernel.errors import DomainError
from paraph.messaging import email, sms
from paraph.operations.check.outcome import Outcome, failed, ok, warning


def mail_gateway() -> Iterator[Outcome]:
    try:
        said = email.check_gateway()
    except (OSError, DomainError) as error:
        yield failed("mail", f"The mail gateway does not work: {_cause(error)}.")
        return
    yield (
        ok("mail", said) if said else warning("mail", "No mail gateway is set: nobody receives the mails in the inbox.")
    )


def sms_gateway() -> Iterator[Outcome]:
    try:
        said = sms.check_gateway()
    except (OSError, DomainError) as error:
        yield failed("sms", f"The SMS gateway does not work: {_cause(error)}.")
        return
    yield ok("sms", said) if said else warning("sms", "No SMS gateway is set: nobody receives the SMS in the inbox.")


def _cause(error: Exception) -> str:
    text = error.message if isinstance(error, DomainError) else str(error)
    return (" ".join(text.split()) or type(error).__name__).rstrip(".")
