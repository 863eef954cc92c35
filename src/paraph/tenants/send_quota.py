"""The monthly quota of requests that are sent from the dashboard (rule 8); the API never touches it."""

from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Plan, WebSends

# A concurrent send waits for the row, and then counts on from what that one left.
_USE = """
    INSERT INTO organizations_websends AS held (organization_id, month, sent)
    SELECT %(organization)s, %(month)s, 1 WHERE %(limit)s::int IS NULL OR %(limit)s > 0
    ON CONFLICT (organization_id, month) DO UPDATE SET sent = held.sent + 1
    WHERE %(limit)s::int IS NULL OR held.sent < %(limit)s
    RETURNING sent
"""


@dataclass(frozen=True)
class WebSendQuota:
    """``limit`` is None for any number; ``renews_on`` is the day on which counting starts anew."""

    sent: int
    limit: int | None
    renews_on: date

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(self.limit - self.sent, 0)


def use_web_send(organization_id: int, plan: str) -> None:
    """Count a send of this month (UTC). Call it in the transaction of the send, which gives it back if it fails.

    Raise ``web_sends_used_up`` where there is none left.
    """
    values: dict[str, int | date | None] = {
        "organization": organization_id,
        "month": _month(clock.now()),
        "limit": _limit(plan),
    }
    with connection.cursor() as cursor:
        cursor.execute(_USE, values)
        counted = cursor.fetchone()
    if not counted:
        quota = web_sends(organization_id, plan)
        sentence = _("Your organization has used all %(limit)d requests of this month; the count resets on %(day)s.")
        raise DomainError("web_sends_used_up", sentence % {"limit": quota.limit, "day": quota.renews_on.isoformat()})


def web_sends(organization_id: int, plan: str) -> WebSendQuota:
    """Return how much of this month's quota is used."""
    month = _month(clock.now())
    sent = WebSends.objects.filter(organization_id=organization_id, month=month).values_list("sent", flat=True).first()
    renews_on = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    return WebSendQuota(sent or 0, _limit(plan), renews_on)


def _month(moment: datetime) -> date:
    return moment.date().replace(day=1)


def _limit(plan: str) -> int | None:
    asked = settings.PARAPH
    return {Plan.FREE: asked.web_sends_free, Plan.PRO: asked.web_sends_pro}.get(Plan(plan))
