"""The refusals of a wrong guess at a code, and of guesses after too many wrong ones."""

import math
from datetime import datetime

from paraph.kernel import clock
from paraph.kernel.errors import DomainError


class GuessRefusedError(DomainError):
    """A guess that was wrong or was not looked at.

    ``attempts_left`` is None unless the guess was wrong. ``retry_after`` is the number of seconds until a guess is
    taken, 0 for now. ``locked`` says that the signer is locked, so that no code is sent until then either.
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
    message = f"Too many wrong codes were tried: {_none_for(until, now)}."
    return GuessRefusedError("too_many_attempts", message, retry_after=_seconds(until, now))


def wrong(attempts_left: int) -> GuessRefusedError:
    message = f"The code is not right; attempts left: {attempts_left}."
    return GuessRefusedError("invalid_otp", message, attempts_left=attempts_left)


def wrong_and_last(until: datetime, now: datetime, *, locked: bool) -> GuessRefusedError:
    """The guess was wrong and the last one for now."""
    message = f"The code is not right, and no attempt is left: {_none_for(until, now)}."
    return GuessRefusedError("invalid_otp", message, attempts_left=0, retry_after=_seconds(until, now), locked=locked)


def replaced() -> GuessRefusedError:
    """The guess was the code before the newest. It counted, but what there is to do is to enter the newest."""
    return GuessRefusedError("invalid_otp", "This code has been replaced by a newer one; use that one.")


def no_code() -> GuessRefusedError:
    return GuessRefusedError("invalid_otp", "There is no code to compare with, or its time is over; ask for a new one.")


def _none_for(until: datetime, now: datetime) -> str:
    return f"no code is taken for {-(-_seconds(until, now) // 60)} min; ask for a new one after that"


def _seconds(until: datetime, now: datetime) -> int:
    return max(1, math.ceil((until - now).total_seconds()))
