"""What each plan allows (rules 2.4, 4.5, 8), how much may be mailed (docs/decisions/messages.md), stored and kept
(docs/decisions/storage-limits.md), and how many requests are sent from the dashboard in a month (rule 8). And who
calls, and how often: the look-up of a key, the counters (of the organization, of the key, of the month) and
``last_used_at`` in one round trip."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import Model, QuerySet, Sum
from django.utils.translation import gettext as _

from paraph.counts.counting import KEPT_FOR_GOOD, Ceiling, count, forget, number_of
from paraph.database.base import one_row
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import PerHourAndDay
from paraph.messaging.gateways import destination_hash
from paraph.tenants.models import DailyCount, Environment, Plan
from paraph.tenants.scope import TenantScope, scoped

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


def sms_ceilings() -> tuple[PerHourAndDay, PerHourAndDay]:
    """Return how many SMS may be sent in a day and environment: by one organization, and by all to one calling code."""
    asked = settings.PARAPH
    return PerHourAndDay(0, asked.sms_per_organization_and_day), PerHourAndDay(0, asked.sms_per_country_and_day)


def stored_bytes(scope: TenantScope) -> int:
    """Return the size of all files of the caller's organization in its environment."""
    row = one_row(_STORED, [scope.organization_id, scope.environment])
    return row[0] if row else 0


def storage_quota(environment: str) -> int | None:
    """Return the bytes that an organization may store in the environment; None for any number."""
    given = settings.PARAPH
    megabytes = given.sandbox_storage_mb if environment == Environment.SANDBOX else given.production_storage_mb
    return megabytes * _MIB or None


def excess_of_requests(scope: TenantScope) -> int:
    """Return by how many requests the sandbox would exceed its limit with one more; 0 if there is no limit."""
    most = settings.PARAPH.sandbox_requests
    if scope.environment != Environment.SANDBOX or not most:
        return 0
    counted = scoped(DailyCount, scope).filter(resource="signature_requests").aggregate(sum=Sum("count"))["sum"]
    return max(0, (counted or 0) + 1 - most)


def oldest_beyond(scope: TenantScope, rows: "QuerySet[Model]", most: int, new: int = 1) -> list[int]:
    """Return the ids of the first of the ordered ``rows`` that have to make room for ``new`` ones, so that there are at
    most ``most``; an empty list in production on a paid plan, and if ``most`` is 0."""
    is_open = scope.environment == Environment.SANDBOX or scope.plan == Plan.FREE
    excess = rows.order_by().count() + new - most if is_open and most else 0
    return list(rows.values_list("pk", flat=True)[:excess]) if excess > 0 else []


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
    """Count a send in this month (UTC). Call this in the transaction of the send, whose failure undoes the count. Raise
    ``DomainError("web_sends_used_up", …)`` if none is left."""
    limit = _limit(plan)
    [position] = count([Ceiling(sends_scope(_month(clock.now()), organization_id), 0, limit or 0)], KEPT_FOR_GOOD)
    if limit is not None and position.is_beyond:
        quota = web_sends(organization_id, plan)
        sentence = _("Your organization has used all %(limit)d requests of this month; the count resets on %(day)s.")
        raise DomainError("web_sends_used_up", sentence % {"limit": quota.limit, "day": quota.renews_on.isoformat()})


def web_sends(organization_id: int, plan: str) -> WebSendQuota:
    """Return how much of this month's quota is used."""
    month = _month(clock.now())
    return WebSendQuota(number_of(sends_scope(month, organization_id)), _limit(plan), next_month(month))


def next_month(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def sends_scope(month: date, organization_id: int | str) -> str:
    """Return the name of the counter for the sends of a month (its first day, UTC)."""
    return f"web-sends:{month:%Y-%m}:{organization_id}"


def _month(moment: datetime) -> date:
    return moment.date().replace(day=1)


def _limit(plan: str) -> int | None:
    asked = settings.PARAPH
    return {Plan.FREE: asked.web_sends_free, Plan.PRO: asked.web_sends_pro}.get(Plan(plan))


BAD_CALLS_PER_MINUTE = 60
_FORGOTTEN_AT_ONCE = 100

_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)

# Finds the owner of a key that is not revoked; without one, nothing is counted and no row is returned. The statement is
# prepared, since planning it anew would take most of its time. ``last_used_at`` is written once a second at most, which
# is as exact as it is ever shown: of simultaneous calls, one writes the row of a busy key. The commit does not wait for
# the disk: a crash of the machine can lose only a count and a time of last use.
_ADMISSION = """
WITH caller AS (
    SELECT key.id AS key_id, key.sha256, key.last_used_at, application.id AS application_id,
           application.organization_id, application.environment, organization.plan,
           organization.suspended_at IS NOT NULL AS suspended
    FROM organizations_apikey AS key
    JOIN organizations_application AS application ON application.id = key.application_id
    JOIN organizations_organization AS organization ON organization.id = application.organization_id
    WHERE key.sha256 = %(sha256)s AND (key.revoked_at IS NULL OR key.revoked_at > %(now)s::timestamptz)
), calls AS (
    -- A window that lies one ahead is another server's clock, and counts; one further ahead is a clock set back.
    INSERT INTO organizations_usage AS known
        (organization_id, environment, minute, minute_calls, hour, hour_calls, month, month_calls, earlier_calls)
    SELECT organization_id, environment, %(minute)s::bigint, 1, %(minute)s::bigint / 60, 1,
           date_trunc('month', %(now)s::timestamptz AT TIME ZONE 'UTC')::date, 1, 0 FROM caller
    ON CONFLICT (organization_id, environment) DO UPDATE SET
        minute = CASE WHEN known.minute - EXCLUDED.minute IN (0, 1) THEN known.minute ELSE EXCLUDED.minute END,
        minute_calls = CASE WHEN known.minute - EXCLUDED.minute IN (0, 1) THEN known.minute_calls + 1 ELSE 1 END,
        hour = CASE WHEN known.hour - EXCLUDED.hour IN (0, 1) THEN known.hour ELSE EXCLUDED.hour END,
        hour_calls = CASE WHEN known.hour - EXCLUDED.hour IN (0, 1) THEN known.hour_calls + 1 ELSE 1 END,
        month = GREATEST(known.month, EXCLUDED.month),
        month_calls = CASE WHEN known.month >= EXCLUDED.month THEN known.month_calls + 1 ELSE 1 END,
        earlier_month = CASE WHEN known.month >= EXCLUDED.month THEN known.earlier_month ELSE known.month END,
        earlier_calls = CASE WHEN known.month >= EXCLUDED.month THEN known.earlier_calls ELSE known.month_calls END
    RETURNING minute, minute_calls, hour, hour_calls
), key_calls AS (
    INSERT INTO organizations_keyusage AS known (key_id, hour, calls, calls_before)
    SELECT key_id, %(minute)s::bigint / 60, 1, 0 FROM caller
    ON CONFLICT (key_id) DO UPDATE SET
        hour = GREATEST(known.hour, EXCLUDED.hour),
        calls = CASE WHEN known.hour >= EXCLUDED.hour THEN known.calls + 1 ELSE 1 END,
        calls_before = CASE WHEN known.hour >= EXCLUDED.hour THEN known.calls_before
                            WHEN known.hour = EXCLUDED.hour - 1 THEN known.calls ELSE 0 END
), used AS (
    UPDATE organizations_apikey AS key SET last_used_at = %(now)s::timestamptz FROM caller
    WHERE (caller.last_used_at IS NULL OR caller.last_used_at < date_trunc('second', %(now)s::timestamptz))
      AND key.id = caller.key_id AND key.last_used_at IS NOT DISTINCT FROM caller.last_used_at
)
SELECT caller.sha256, caller.organization_id, caller.environment, caller.plan, caller.application_id, caller.suspended,
    calls.minute, calls.minute_calls, calls.hour, calls.hour_calls, set_config('synchronous_commit', 'off', true)
FROM caller CROSS JOIN calls
"""


class Calls(NamedTuple):
    """Calls so far, this one included. ``minute`` and ``hour`` are the windows, counted from the epoch."""

    minute: int
    in_minute: int
    hour: int
    in_hour: int


def key_hash(api_key: str) -> bytes:
    """Return the form in which a key is stored: the SHA-256 of its 64 characters (rule 5.1)."""
    return tokens.sha256(api_key.encode())


def admit(api_key: str) -> tuple[TenantScope, Calls] | None:
    """Return the owner of the key and the calls of their organization in its environment, including this one. Return
    None for a key that is malformed, unknown or revoked, and count nothing. To be called outside any transaction, so
    that the counter's row is locked only during the statement."""
    if not _KEY.fullmatch(api_key):
        return None
    wanted, now = key_hash(api_key), clock.now()
    row = one_row(_ADMISSION, {"sha256": wanted, "now": now, "minute": minute_of(now)})
    if row is None:
        return None
    sha256, organization_id, environment, plan, application_id, suspended, *calls, _ = row
    if not tokens.same(sha256, wanted):
        return None
    return TenantScope(organization_id, environment, plan, application_id, suspended), Calls(*calls)


def count_bad_call(address: str) -> int:
    """Count a call without a valid key. Return how many came from the address in this minute."""
    ends_at = datetime.fromtimestamp((minute_of(clock.now()) + 1) * 60, UTC)
    [position] = count([Ceiling(f"bad-key:{destination_hash(address)}", 60, BAD_CALLS_PER_MINUTE)], ends_at)
    if position.number == 1:
        forget(_FORGOTTEN_AT_ONCE)  # otherwise, the counts of many addresses would pile up
    return position.number


def minute_of(moment: datetime) -> int:
    """Return the minutes since the epoch."""
    return int(moment.timestamp()) // 60
