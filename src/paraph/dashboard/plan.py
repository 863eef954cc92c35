"""``/app/{o}/plan``: what the plan allows, and what of it is used; ``…/billed.csv``: what is billed, by day."""

from datetime import UTC, date, timedelta

from django.conf import settings
from django.db.models import Count
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import csv_answer, environments, member_page, scope, show, start_of_day
from paraph.kernel import clock
from paraph.kernel.csv_lines import csv_line
from paraph.kernel.rates import PerHourAndDay
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.limits import allowance, message_ceilings, rate_limit, sms_ceilings, web_sends
from paraph.tenants.members import Right
from paraph.tenants.models import Environment, Member, Plan
from paraph.tenants.scope import scoped
from paraph.tenants.usage import MonthlyUsage, by_day, monthly_usage

_MONTHS_BEFORE = 5
_COLUMNS = ("day", "billed_requests", "web_sends")  # as `paraph usage` calls them


@member_page(Right.SEE)
def plan(request: HttpRequest, member: Member) -> HttpResponse:
    organization, pk = member.organization, member.organization_id
    content = {
        "quota": web_sends(organization.pk, organization.plan),
        "allowance": allowance(organization.plan),
        "profiles": organization.branding_profiles.count(),
        "rates": [(each, rate_limit(organization.plan, each)) for each in Environment],
        "message_limits": _message_limits(Plan(organization.plan), environments(member)),
        "months": [(month, monthly_usage(month, pk).get(pk, MonthlyUsage())) for month in _months(member)],
    }
    return show(request, "plan.html", content, member=member)


@member_page(Right.SEE)
def billed(request: HttpRequest, member: Member) -> HttpResponse:  # noqa: ARG001
    """Download a line for each day with requests created in production, in the months that the page shows."""
    first = start_of_day(_months(member)[-1])
    production = scope(member, Environment.PRODUCTION)
    created = by_day(production, "signature_requests", first.date())
    from_here = scoped(SignatureRequest, production).filter(application=None, created_at__gte=first)
    sent = dict(from_here.values_list(TruncDate("created_at", tzinfo=UTC)).annotate(Count("pk")))
    counted = [(day, count, sent.get(day, 0)) for day, count in sorted(created.items())]
    lines = [(day.isoformat(), str(count - here), str(here)) for day, count, here in counted]
    content = "".join(csv_line(line) for line in [_COLUMNS, *lines])
    return csv_answer(content, f"billed-{member.organization_id}-{clock.now():%Y-%m-%d}.csv")


def _message_limits(plan: Plan, shown: list[Environment]) -> list[tuple[str, str]]:
    """Return each ceiling of messages in words, and how many it allows."""
    to_one, to_one_from_all = settings.PARAPH.messages_per_destination, settings.PARAPH.messages_per_destination_in_all
    sms_of_organization, sms_to_country = sms_ceilings()
    named = [
        (_("All messages, %(environment)s") % {"environment": environment.label}, message_ceilings(plan, environment))
        for environment in shown
    ]
    named += [
        (_("To one address or number from you, production"), to_one),
        (_("To one address or number from all organizations, production"), to_one_from_all),
        (_("SMS from you, in each environment"), sms_of_organization),
        (_("SMS to one country from all organizations, in each environment"), sms_to_country),
    ]
    if Environment.SANDBOX in shown:
        named.append((_("To one address or number from all organizations, sandbox"), to_one))
    return [(name, _written(limit)) for name, limit in named]


def _written(limit: PerHourAndDay) -> str:
    hour, day = (number_format(number, use_l10n=True, force_grouping=True) for number in limit)
    if limit.per_hour and limit.per_day:
        return _("%(hour)s per hour, %(day)s per day") % {"hour": hour, "day": day}
    if limit.per_day:
        return _("%(day)s per day") % {"day": day}
    return _("%(hour)s per hour") % {"hour": hour} if limit.per_hour else _("No limit")


def _months(member: Member) -> list[date]:
    """Return this month and up to five before it, as far as the organization existed, the newest first."""
    first_day = member.organization.created_at.date()
    months = [clock.now().date().replace(day=1)]
    for _month in range(_MONTHS_BEFORE):
        months.append((months[-1] - timedelta(days=1)).replace(day=1))
    return [month for month in months if month >= first_day.replace(day=1)]
