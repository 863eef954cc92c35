"""What each plan allows (specification 2.4, 4.5, 8)."""

from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings

from paraph.kernel.ceilings import PerHourAndDay
from paraph.tenants.models import Environment, Plan


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
    """The limit that applies to the plan's calls in the environment (specification 8), raised by the operator's
    factor."""
    limit = SANDBOX_RATE if environment == Environment.SANDBOX else PRODUCTION_RATES[Plan(plan)]
    factor = settings.PARAPH.rate_limit_factor
    return limit if factor == 1 else RateLimit(limit.per_minute * factor, limit.per_hour * factor)


def message_ceilings(plan: str, environment: str) -> PerHourAndDay:
    """How many messages an organization on the plan may send in the environment, raised by the operator's factor."""
    asked = settings.PARAPH
    if environment == Environment.SANDBOX:
        limit = asked.messages_free_sandbox if plan == Plan.FREE else asked.messages_sandbox
    else:
        limit = asked.messages_enterprise if plan == Plan.ENTERPRISE else asked.messages_pro
    return limit.times(asked.rate_limit_factor)
