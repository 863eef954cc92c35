"""Fixed windows per minute and hour, and the headers that tell of them (rule 8)."""

import math
from typing import NamedTuple

from django.utils.translation import ngettext

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admission import BAD_CALLS_PER_MINUTE, Calls, minute_of
from paraph.tenants.limits import RateLimit


class RateLimitStatus(NamedTuple):
    """The most constraining window: its ceiling, the calls left in it and the Unix time of its reset."""

    limit: int
    remaining: int
    reset: int
    exceeded: bool

    @property
    def retry_after(self) -> int:
        """Seconds to wait before the next allowed call: 0 while calls remain."""
        return 0 if self.remaining else max(1, math.ceil(self.reset - clock.now().timestamp()))


class RateLimited(DomainError):
    def __init__(self, status: RateLimitStatus) -> None:
        seconds = status.retry_after
        message = ngettext(
            "Too many calls: the limit is %(limit)d. Try again in %(seconds)d second.",
            "Too many calls: the limit is %(limit)d. Try again in %(seconds)d seconds.",
            seconds,
        )
        super().__init__("rate_limited", message % {"limit": status.limit, "seconds": seconds})
        self.status = status


def rate_limit_status(calls: Calls, limit: RateLimit) -> RateLimitStatus:
    """Return the window that constrains most: the one with the fewest calls left; of two alike, the later to reset."""
    minute = _window(calls.in_minute, limit.per_minute, (calls.minute + 1) * 60)
    hour = _window(calls.in_hour, limit.per_hour, (calls.hour + 1) * 3600)
    return min(minute, hour, key=_constraint)


def bad_key_status(calls: int) -> RateLimitStatus:
    """Return the guard of one address against calls without a valid key."""
    return _window(calls, BAD_CALLS_PER_MINUTE, (minute_of(clock.now()) + 1) * 60)


def headers(status: RateLimitStatus, *, at_least: int = 0) -> dict[str, str]:
    """``at_least``: seconds to wait for another reason than the limit."""
    return {
        "Retry-After": str(max(status.retry_after, at_least)),
        "X-RateLimit-Limit": str(status.limit),
        "X-RateLimit-Remaining": str(status.remaining),
        "X-RateLimit-Reset": str(status.reset),
    }


def _constraint(window: RateLimitStatus) -> tuple[int, bool, int]:
    return window.remaining, not window.exceeded, -window.reset


def _window(calls: int, ceiling: int, reset: int) -> RateLimitStatus:
    return RateLimitStatus(ceiling, max(0, ceiling - calls), reset, calls > ceiling)
