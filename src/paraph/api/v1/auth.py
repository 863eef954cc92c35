"""Who calls (specification 5.1) and whether they may call now (specification 8)."""

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1.ratelimit import RateLimited, RateLimitStatus, bad_key_status, rate_limit_status
from paraph.kernel import turns
from paraph.kernel.errors import DomainError
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.admission import Prefetch, admit, count_bad_call
from paraph.tenants.models import Environment
from paraph.tenants.plans import allowance, rate_limit
from paraph.tenants.scope import Caller, party


class ApiRequest(HttpRequest):
    """A request that the door has let in. ``prefetched``: what :func:`prefetch` has read, None for nothing."""

    caller: Caller
    prefetched: bytes | None


View = TypeVar("View", bound=Callable[..., HttpResponse])


def prefetch(reading: Callable[..., Prefetch | None]) -> Callable[[View], View]:
    """Makes the key look-up of a route bring along what the route reads, so that the whole call costs one round trip.
    ``reading`` gets the path parameters; what it reads is in ``request.prefetched``."""

    def mark(view: View) -> View:
        view.prefetch = reading  # type: ignore[attr-defined]
        return view

    return mark


def identify(request: HttpRequest, wanted: Prefetch | None) -> tuple[Caller, RateLimitStatus, bytes | None]:
    """The caller, what is left of their calls, and what was prefetched; the call is counted.

    Raises ``invalid_api_key``, or ``rate_limited`` for an address that keeps sending bad keys. A valid key
    passes whatever else its address sends: many clients share one.
    """
    admission = admit(request.META.get("HTTP_X_API_KEY", ""), wanted)
    if admission is None:
        guard = bad_key_status(count_bad_call(guarded_network(client_address(request))))
        if guard.exceeded:
            raise RateLimited(guard)
        raise DomainError("invalid_api_key", _("The X-Api-Key header must hold a valid API key."))
    caller, calls, prefetched = admission
    return caller, rate_limit_status(calls, rate_limit(caller.plan, caller.environment)), prefetched


def check(caller: Caller, status: RateLimitStatus) -> None:
    """Raises ``rate_limited`` beyond the limit, ``unavailable`` where the organization has had its share for now,
    ``payment_required`` for production on the Free plan, and ``forbidden`` where the organization is suspended."""
    if status.exceeded:
        raise RateLimited(status)
    turns.take(party(caller))
    if caller.environment == Environment.PRODUCTION and not allowance(caller.plan).production:
        raise DomainError("payment_required", _("The production environment requires a paid plan."))
    if caller.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask whoever runs this service."))
