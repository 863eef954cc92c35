"""The error types for refusals and outages. Doors turn them into their envelope, jobs into their record of failure."""


class DomainError(Exception):
    """A refusal with a stable ``code`` and one clear sentence in the reader's language. ``code`` is one of rule 7 or of
    the signer endpoints (``already_signed``, ``not_your_turn``, ``expired``, ``invalid_otp``, ``too_many_attempts``),
    which the doors map to an HTTP status. A fault that the caller cannot mend is ``configuration`` if an operator must
    act, and ``unavailable`` if it is transient. ``retry_after``: the seconds until it may be tried again, 0 where that
    is not known."""

    def __init__(self, code: str, message: str, retry_after: int = 0) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.retry_after = code, message, retry_after


class AwayError(OSError):
    """A part of the installation does not answer or fails: not the caller's fault, and usually over soon."""


class RecipientRefusedError(OSError):
    """A gateway refused a message because of its recipient's address or number, and would take messages to others. The
    text is what the gateway said, on one line, without the address."""
