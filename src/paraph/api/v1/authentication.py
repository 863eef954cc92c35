"""Who calls (rule 5.1) and whether they may call now (rule 8)."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from paraph.api.v1.ratelimit import RateLimited, RateLimitStatus, bad_key_status, rate_limit_status
from paraph.kernel import turns
from paraph.kernel.errors import DomainError
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.admission import admit, count_bad_call
from paraph.tenants.models import Environment
from paraph.tenants.plans import allowance, rate_limit
from paraph.tenants.scope import Caller, party


class ApiRequest(HttpRequest):
    """A request that was let in."""

    caller: Caller


def identify(request: HttpRequest) -> tuple[Caller, RateLimitStatus]:
    """Return the caller and what is left of their calls; the call is counted.

    Raises ``invalid_api_key``, or ``rate_limited`` for an address that keeps sending bad keys. A valid key
    passes whatever else its address sends: many clients share one.
    """
    admission = admit(request.META.get("HTTP_X_API_KEY", ""))
    if admission is None:
        guard = bad_key_status(count_bad_call(guarded_network(client_address(request))))
        if guard.exceeded:
            raise RateLimited(guard)
        raise DomainError("invalid_api_key", _("The X-Api-Key header must hold a valid API key."))
    caller, calls = admission
    return caller, rate_limit_status(calls, rate_limit(caller.plan, caller.environment))


def check(caller: Caller, status: RateLimitStatus) -> None:
    """Raise ``rate_limited`` beyond the limit, ``unavailable`` where the organization has had its share for now,
    ``payment_required`` for production on the Free plan, and ``forbidden`` where the organization is suspended."""
    if status.exceeded:
        raise RateLimited(status)
    turns.take(party(caller))
    if caller.environment == Environment.PRODUCTION and not allowance(caller.plan).production:
        raise DomainError("payment_required", _("The production environment requires a paid plan."))
    if caller.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask whoever runs this service."))
