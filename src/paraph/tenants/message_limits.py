"""Every ceiling of messages by name, for pages that tell them (docs/decisions/messages.md)."""

from dataclasses import dataclass

from django.conf import settings

from paraph.kernel.ceilings import PerHourAndDay
from paraph.tenants.models import Environment, Plan
from paraph.tenants.plans import message_ceilings


@dataclass(frozen=True)
class MessageLimits:
    """``of_plans``: of one organization, by environment and plan. The others hold for every plan: to one address or
    number in production from one organization and from all, in the sandbox from all; SMS in a day and environment, of
    one organization and of all to one calling code."""

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
