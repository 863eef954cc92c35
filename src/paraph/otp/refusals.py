"""The refusals of a wrong guess at a code, and of guesses after too many wrong ones."""

import math
from datetime import datetime

from paraph.kernel import clock
from paraph.kernel.errors import DomainError


class GuessRefusedError(DomainError):
    """A guess that was wrong or was not looked at.

    ``attempts_left`` at the newest code is None unless the guess was wrong or none is left. ``retry_after`` is the
    number of seconds until a code is sent and taken again, 0 for now. ``locked`` says that it is the signer who is
    locked.
    """

    def __init__(
        self, code: str, message: str, *, attempts_left: int | None = None, retry_after: int = 0, locked: bool = False
    ) -> None:
        super().__init__(code, message)
        self.attempts_left = attempts_left
        self.retry_after = retry_after
        self.locked = locked


def locked(until: datetime, now: datetime) -> GuessRefusedError:
    message = (
        f"Too many wrong codes were tried: none is sent or taken until {clock.iso(until)}. "
        "If that is too late, the sender can make a new request."
    )
    return GuessRefusedError("too_many_attempts", message, retry_after=_seconds(until, now), locked=True)


def too_many(until: datetime, now: datetime) -> GuessRefusedError:
    message = f"Too many wrong codes were tried: {_none_until(until)}."
    return GuessRefusedError("too_many_attempts", message, retry_after=_seconds(until, now))


def used_up() -> GuessRefusedError:
    """Say that the newest code was guessed at five times."""
    message = "Too many wrong codes were tried, so the code is void; ask for a new one."
    return GuessRefusedError("too_many_attempts", message, attempts_left=0)


def wrong(attempts_left: int) -> GuessRefusedError:
    message = f"The code is not right; attempts left: {attempts_left}."
    return GuessRefusedError("invalid_otp", message, attempts_left=attempts_left)


def wrong_and_last() -> GuessRefusedError:
    """Say that the guess was wrong, and the last one at this code."""
    message = "The code is not right, and no attempt is left, so it is void; ask for a new one."
    return GuessRefusedError("invalid_otp", message, attempts_left=0)


def wrong_and_locked(until: datetime, now: datetime) -> GuessRefusedError:
    """Say that the guess was wrong, and one too many within a day."""
    message = f"The code is not right, and too many wrong ones were tried: {_none_until(until)}."
    return GuessRefusedError("invalid_otp", message, attempts_left=0, retry_after=_seconds(until, now), locked=True)


def replaced() -> GuessRefusedError:
    """Say that the guess was the code before the newest. It counted; what helps is to enter the newest."""
    return GuessRefusedError("invalid_otp", "This code has been replaced by a newer one; use that one.")


def no_code() -> GuessRefusedError:
    return GuessRefusedError("invalid_otp", "There is no code to compare with, or its time is over; ask for a new one.")


def _none_until(until: datetime) -> str:
    return f"no code is sent or taken until {clock.iso(until)}; ask for a new one after that"


def _seconds(until: datetime, now: datetime) -> int:
    return max(1, math.ceil((until - now).total_seconds()))
