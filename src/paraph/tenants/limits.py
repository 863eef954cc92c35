"""What each plan allows (rules 2.4, 4.5, 8), how much may be mailed (docs/decisions/messages.md) and stored
(docs/decisions/storage-limits.md)."""

from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings

from paraph.database.planned import one_row
from paraph.kernel.rates import PerHourAndDay
from paraph.tenants.models import Environment, Plan
from paraph.tenants.scope import TenantScope

_MIB = 1024 * 1024
_STORED = "SELECT bytes FROM organizations_storage WHERE organization_id = %s AND environment = %s"


@dataclass(frozen=True)
class Allowance:
    signers: int
    documents: int
    branding_profiles: int
    production: bool
    initials: bool
    sms: bool


class RateLimit(NamedTuple):
    """Calls that one organization may make in one environment, in fixed windows."""

    per_minute: int
    per_hour: int


ALLOWANCES = {
    Plan.FREE: Allowance(5, 3, 0, production=False, initials=False, sms=False),
    Plan.PRO: Allowance(25, 20, 2, production=True, initials=True, sms=True),
    Plan.ENTERPRISE: Allowance(100, 50, 10, production=True, initials=True, sms=True),
}
SANDBOX_RATE = RateLimit(120, 3_000)
PRODUCTION_RATES = {
    Plan.FREE: SANDBOX_RATE,  # every call is answered 402, and counted; its ceiling is the sandbox one
    Plan.PRO: RateLimit(500, 10_000),
    Plan.ENTERPRISE: RateLimit(1_200, 60_000),
}


def allowance(plan: str) -> Allowance:
    return ALLOWANCES[Plan(plan)]


def rate_limit(plan: str, environment: str) -> RateLimit:
    """Return the limit that applies to the plan's calls in the environment (rule 8), raised by the operator's
    factor."""
    limit = SANDBOX_RATE if environment == Environment.SANDBOX else PRODUCTION_RATES[Plan(plan)]
    factor = settings.PARAPH.rate_limit_factor
    return limit if factor == 1 else RateLimit(limit.per_minute * factor, limit.per_hour * factor)


def message_ceilings(plan: str, environment: str) -> PerHourAndDay:
    """Return how many messages an organization on the plan may send in the environment, raised by the operator's
    factor."""
    asked = settings.PARAPH
    if environment == Environment.SANDBOX:
        limit = asked.messages_free_sandbox if plan == Plan.FREE else asked.messages_sandbox
    else:
        limit = asked.messages_enterprise if plan == Plan.ENTERPRISE else asked.messages_pro
    return limit.times(asked.rate_limit_factor)


@dataclass(frozen=True)
class MessageLimits:
    """Every ceiling of messages by name, for pages that list them.

    ``of_plans``: of one organization, by environment and plan. The others hold for every plan: to one address or number
    in production from one organization and from all, in the sandbox from all; SMS in a day and environment, of one
    organization and of all to one calling code.
    """

    of_plans: dict[tuple[Environment, Plan], PerHourAndDay]
    to_one: PerHourAndDay
    to_one_from_all: PerHourAndDay
    to_one_in_sandbox: PerHourAndDay
    sms_of_organization: PerHourAndDay
    sms_to_country: PerHourAndDay


def message_limits() -> MessageLimits:
    asked = settings.PARAPH
    return MessageLimits(
        of_plans={
            (environment, plan): message_ceilings(plan, environment) for environment in Environment for plan in Plan
        },
        to_one=asked.messages_per_destination,
        to_one_from_all=asked.messages_per_destination_in_all,
        to_one_in_sandbox=asked.messages_per_destination,
        sms_of_organization=PerHourAndDay(0, asked.sms_per_organization_and_day),
        sms_to_country=PerHourAndDay(0, asked.sms_per_country_and_day),
    )


def stored_bytes(scope: TenantScope) -> int:
    """Return the size of all files of the caller's organization in its environment."""
    row = one_row(_STORED, [scope.organization_id, scope.environment])
    return row[0] if row else 0


def storage_quota(environment: str) -> int | None:
    """Return the bytes that an organization may store in the environment; None for any number."""
    given = settings.PARAPH
    megabytes = given.sandbox_storage_mb if environment == Environment.SANDBOX else given.production_storage_mb
    return megabytes * _MIB or None
