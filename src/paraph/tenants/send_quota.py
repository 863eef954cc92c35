"""The monthly quota of requests that are sent from the dashboard (rule 8); the API never touches it."""

from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.utils.translation import gettext as _

from paraph.counts.counting import KEPT_FOR_GOOD, Ceiling, count, number_of
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Plan


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
    limit = _limit(plan)
    [position] = count([Ceiling(sends_scope(_month(clock.now()), organization_id), 0, limit or 0)], KEPT_FOR_GOOD)
    if limit is not None and position.is_beyond:
        quota = web_sends(organization_id, plan)
        sentence = _("Your organization has used all %(limit)d requests of this month; the count resets on %(day)s.")
        raise DomainError("web_sends_used_up", sentence % {"limit": quota.limit, "day": quota.renews_on.isoformat()})


def web_sends(organization_id: int, plan: str) -> WebSendQuota:
    """Return how much of this month's quota is used."""
    month = _month(clock.now())
    renews_on = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    return WebSendQuota(number_of(sends_scope(month, organization_id)), _limit(plan), renews_on)


def sends_scope(month: date, organization_id: int | str) -> str:
    """Return where the sends of a month (its first day, UTC) are counted."""
    return f"web-sends:{month:%Y-%m}:{organization_id}"


def _month(moment: datetime) -> date:
    return moment.date().replace(day=1)


def _limit(plan: str) -> int | None:
    asked = settings.PARAPH
    return {Plan.FREE: asked.web_sends_free, Plan.PRO: asked.web_sends_pro}.get(Plan(plan))
