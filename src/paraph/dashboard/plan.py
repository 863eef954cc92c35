"""``/app/{o}/plan``: what the plan allows, and what of it is used in this month."""

from datetime import date

from django.http import HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import member_page, show
from paraph.kernel import clock
from paraph.kernel.ceilings import PerHourAndDay
from paraph.tenants.limits import allowance, message_limits, rate_limit
from paraph.tenants.models import Environment, Member, Plan
from paraph.tenants.rights import Right
from paraph.tenants.send_quota import web_sends
from paraph.tenants.usage import MonthlyUsage, monthly_usage

_MONTHS_BEFORE = 5


@member_page(Right.SEE)
def plan(request: HttpRequest, member: Member) -> HttpResponse:
    organization = member.organization
    this_month = clock.now().date().replace(day=1)
    content = {
        "quota": web_sends(organization.pk, organization.plan),
        "allowance": allowance(organization.plan),
        "profiles": organization.branding_profiles.count(),
        "rates": [(each, rate_limit(organization.plan, each)) for each in Environment],
        "message_limits": _message_limits(Plan(organization.plan)),
        "months": [
            (month, _used(organization.pk, month)) for month in _until(this_month, organization.created_at.date())
        ],
    }
    return show(request, "plan.html", content, member=member)


def _message_limits(plan: Plan) -> list[tuple[str, str]]:
    """Return each ceiling of messages in words, and how many it allows."""
    limits = message_limits()
    named = [
        (_("All messages, %(environment)s") % {"environment": environment.label}, limit)
        for (environment, of), limit in limits.of_plans.items()
        if of == plan
    ]
    named += [
        (_("To one address or number from you, production"), limits.to_one),
        (_("To one address or number from all organizations, production"), limits.to_one_from_all),
        (_("To one address or number from all organizations, sandbox"), limits.to_one_in_sandbox),
        (_("SMS from you, in each environment"), limits.sms_of_organization),
        (_("SMS to one country from all organizations, in each environment"), limits.sms_to_country),
    ]
    return [(name, _written(limit)) for name, limit in named]


def _written(limit: PerHourAndDay) -> str:
    hour, day = (number_format(number, use_l10n=True, force_grouping=True) for number in limit)
    if limit.per_hour and limit.per_day:
        return _("%(hour)s per hour, %(day)s per day") % {"hour": hour, "day": day}
    if limit.per_day:
        return _("%(day)s per day") % {"day": day}
    return _("%(hour)s per hour") % {"hour": hour} if limit.per_hour else _("no limit")


def _used(organization_id: int, month: date) -> MonthlyUsage:
    return monthly_usage(month, organization_id).get(organization_id, MonthlyUsage())


def _until(month: date, first_day: date) -> list[date]:
    """This month and those before since the organization began, the newest first."""
    months = [month]
    for _month in range(_MONTHS_BEFORE):
        year, before = divmod(months[-1].year * 12 + months[-1].month - 2, 12)
        months.append(date(year, before + 1, 1))
    return [month for month in months if month >= first_day.replace(day=1)]
