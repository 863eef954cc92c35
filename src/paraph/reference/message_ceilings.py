"""The ceilings of messages and codes, as rows of a table."""

from paraph.kernel.ceilings import PerHourAndDay
from paraph.tenants.message_limits import message_limits
from paraph.tenants.models import Environment

_PLACES = {Environment.SANDBOX: "the sandbox", Environment.PRODUCTION: "production"}

Row = tuple[str, str, str]
"""What is counted; how many in an hour and in a day."""


def message_ceilings() -> list[Row]:
    """Return each ceiling of messages."""
    limits = message_limits()
    named = [
        ("To one address or number in production, from your organization", limits.to_one),
        ("To one address or number in production, from all organizations", limits.to_one_from_all),
        ("To one address or number in the sandbox, from all organizations", limits.to_one_in_sandbox),
        *[
            (f"Of your organization in {_PLACES[environment]}, {plan.label}", limit)
            for (environment, plan), limit in limits.of_plans.items()
        ],
        ("SMS of your organization, in each environment", limits.sms_of_organization),
        ("SMS to one calling code (+33, +1) from all organizations, in each environment", limits.sms_to_country),
    ]
    return [(name, *_written(limit)) for name, limit in named]


def _written(limit: PerHourAndDay) -> tuple[str, str]:
    hour, day = (f"{number:,}" if number else "no limit" for number in limit)
    return hour, day
