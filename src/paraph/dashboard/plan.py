"""``/app/{o}/plan``: what the plan allows, and what of it is used in this month."""

from datetime import date

from django.http import HttpRequest, HttpResponse

from paraph.dashboard.door import member_page, show
from paraph.kernel import clock
from paraph.members.models import Member
from paraph.members.rights import Right
from paraph.organizations.models import Environment
from paraph.organizations.plans import allowance, rate_limit
from paraph.organizations.usage import MonthlyUsage, monthly_usage
from paraph.organizations.web_sends import web_sends

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
        "months": [
            (month, _used(organization.pk, month)) for month in _until(this_month, organization.created_at.date())
        ],
    }
    return show(request, "plan.html", content, member=member)


def _used(organization_id: int, month: date) -> MonthlyUsage:
    return monthly_usage(month, organization_id).get(organization_id, MonthlyUsage())


def _until(month: date, first_day: date) -> list[date]:
    """This month and those before since the organization began, the newest first."""
    months = [month]
    for _ in range(_MONTHS_BEFORE):
        year, before = divmod(months[-1].year * 12 + months[-1].month - 2, 12)
        months.append(date(year, before + 1, 1))
    return [month for month in months if month >= first_day.replace(day=1)]
