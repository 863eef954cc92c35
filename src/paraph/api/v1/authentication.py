"""Who calls (rule 5.1) and whether they may call now (rule 8)."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from paraph.api.v1.codes import refused
from paraph.api.v1.ratelimit import RateLimited, RateLimitStatus, bad_key_status, rate_limit_status
from paraph.kernel.errors import DomainError
from paraph.kernel.places import name_tenant
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.admission import admit, count_bad_call
from paraph.tenants.limits import allowance, rate_limit
from paraph.tenants.models import Environment
from paraph.tenants.scope import TenantScope, tenant_key


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
        guard = bad_key_status(count_bad_call(guarded_network(client_address(request))))
        if guard.exceeded:
            raise RateLimited(guard)
        raise refused("invalid_api_key")
    scope, calls = admission
    return scope, rate_limit_status(calls, rate_limit(scope.plan, scope.environment))


def check(scope: TenantScope, status: RateLimitStatus) -> None:
    """Raise ``rate_limited`` beyond the limit, ``payment_required`` for production on the Free plan, and ``forbidden``
    where the organization is suspended."""
    if status.exceeded:
        raise RateLimited(status)
    name_tenant(tenant_key(scope))
    if scope.environment == Environment.PRODUCTION and not allowance(scope.plan).production:
        raise refused("payment_required")
    if scope.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask the operator of this service."))
