"""Who calls (rule 5.1), whether they may call now, and the headers that say how often (rule 8)."""

import math
from typing import NamedTuple

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from paraph.api.v1.codes import refused
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.admin_log import Actor
from paraph.tenants.admission import BAD_CALLS_PER_MINUTE, Calls, admit, count_bad_call, minute_of
from paraph.tenants.limits import RateLimit, allowance, rate_limit
from paraph.tenants.models import ActorKind, Environment
from paraph.tenants.scope import TenantScope, answer_for


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
    return min(minute, hour, key=lambda window: (window.remaining, not window.exceeded, -window.reset))


def rate_headers(status: RateLimitStatus, *, at_least: int = 0) -> dict[str, str]:
    """``at_least``: seconds to wait for another reason than the limit."""
    return {
        "Retry-After": str(max(status.retry_after, at_least)),
        "X-RateLimit-Limit": str(status.limit),
        "X-RateLimit-Remaining": str(status.remaining),
        "X-RateLimit-Reset": str(status.reset),
    }


def _window(calls: int, ceiling: int, reset: int) -> RateLimitStatus:
    return RateLimitStatus(ceiling, max(0, ceiling - calls), reset, calls > ceiling)


class ApiRequest(HttpRequest):
    """A request that was let in."""

    scope: TenantScope


def identify(request: HttpRequest) -> tuple[TenantScope, RateLimitStatus]:
    """Return the caller and what is left of their calls; the call is counted.

    Raises ``invalid_api_key``, or ``rate_limited`` for an address that keeps sending bad keys. A valid key
    passes whatever else its address sends: many clients share one.
    """
    admission = admit(request.META.get("HTTP_X_API_KEY", ""))
    if admission is None:
        calls_without_key = count_bad_call(guarded_network(client_address(request)))
        guard = _window(calls_without_key, BAD_CALLS_PER_MINUTE, (minute_of(clock.now()) + 1) * 60)
        if guard.exceeded:
            raise RateLimited(guard)
        raise refused("invalid_api_key")
    scope, calls = admission
    answer_for(scope)
    return scope, rate_limit_status(calls, rate_limit(scope.plan, scope.environment))


def check(scope: TenantScope, status: RateLimitStatus) -> None:
    """Raise ``rate_limited`` beyond the limit, ``payment_required`` for production on the Free plan, and ``forbidden``
    where the organization is suspended."""
    if status.exceeded:
        raise RateLimited(status)
    if scope.environment == Environment.PRODUCTION and not allowance(scope.plan).production:
        raise refused("payment_required")
    if scope.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask the operator of this service."))


def actor(request: ApiRequest) -> Actor:
    return Actor(ActorKind.API, request.scope.application_id, ip=client_address(request))
