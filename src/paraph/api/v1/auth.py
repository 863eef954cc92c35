"""Who calls (specification 5.1) and whether they may call now (specification 8)."""

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1.ratelimit import RateLimited, Standing, bad_key_standing, standing
from paraph.journal.client_address import client_address, guarded_network
from paraph.kernel.errors import DomainError
from paraph.organizations.admission import Also, admit, count_bad_call
from paraph.organizations.models import Environment
from paraph.organizations.plans import allowance, rate_limit
from paraph.organizations.scope import Caller


class ApiRequest(HttpRequest):
    """A request that the door has let in."""

    caller: Caller
    found: bytes | None
    """What the function of the route has asked for by :func:`also`."""


View = TypeVar("View", bound=Callable[..., HttpResponse])


def asks(reading: Callable[..., Also | None]) -> Callable[[View], View]:
    """For a route that reads one thing: ``reading`` gets its path parameters and says what the look-up of the key is
    to bring along, so that the whole call costs one round trip."""

    def mark(view: View) -> View:
        view.reading = reading  # type: ignore[attr-defined]
        return view

    return mark


def identify(request: HttpRequest, also: Also | None) -> tuple[Caller, Standing, bytes | None]:
    """The caller, what is left of their calls, and what was to be read ``also``; the call is counted.

    Raises ``invalid_api_key``, or ``rate_limited`` for an address that keeps sending bad keys. A valid key
    passes whatever else its address sends: many clients share one.
    """
    admission = admit(request.META.get("HTTP_X_API_KEY", ""), also)
    if admission is None:
        guard = bad_key_standing(count_bad_call(guarded_network(client_address(request))))
        if guard.exceeded:
            raise RateLimited(guard)
        raise DomainError("invalid_api_key", _("The X-Api-Key header must hold a valid API key."))
    caller, calls, found = admission
    return caller, standing(calls, rate_limit(caller.plan, caller.environment)), found


def check(caller: Caller, standing: Standing) -> None:
    """Raises ``rate_limited`` beyond the limit and ``payment_required`` for production on the Free plan."""
    if standing.exceeded:
        raise RateLimited(standing)
    if caller.environment == Environment.PRODUCTION and not allowance(caller.plan).production:
        raise DomainError("payment_required", _("The production environment requires a paid plan."))
