"""How many rows an organization may keep where anybody may have a key: in the sandbox, and on the plan Free
(docs/decisions/storage-limits.md)."""

from django.conf import settings
from django.db.models import Model, QuerySet, Sum

from paraph.tenants.models import DailyCount, Environment, Plan
from paraph.tenants.scope import TenantScope, scoped


def excess_of_requests(scope: TenantScope) -> int:
    """Return how many requests too many the sandbox has with one more; 0 where there is no limit."""
    most = settings.PARAPH.sandbox_requests
    if scope.environment != Environment.SANDBOX or not most:
        return 0
    counted = scoped(DailyCount, scope).filter(resource="signature_requests").aggregate(sum=Sum("count"))["sum"]
    return max(0, (counted or 0) + 1 - most)


def oldest_beyond(scope: TenantScope, rows: "QuerySet[Model]", most: int, new: int = 1) -> list[int]:
    """Return the ids of those that are to make room for ``new`` ones, so that there are at most ``most``: the first of
    ``rows``, which are in their order. None in production on a plan that is paid for, nor where ``most`` is 0."""
    is_open = scope.environment == Environment.SANDBOX or scope.plan == Plan.FREE
    excess = rows.order_by().count() + new - most if is_open and most else 0
    return list(rows.values_list("pk", flat=True)[:excess]) if excess > 0 else []
