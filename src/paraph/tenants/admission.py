"""Who calls, and how often: the key look-up, the counters (of the organization, of the key, of the month) and
``last_used_at`` in one round trip."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from paraph.counts.counting import Ceiling, count, forget
from paraph.database.base import one_row
from paraph.kernel import clock, tokens
from paraph.messaging.gateways import destination_hash
from paraph.tenants.scope import TenantScope

BAD_CALLS_PER_MINUTE = 60
_FORGOTTEN_AT_ONCE = 100

_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)

# The owner of a key that is not revoked by now; without one, nothing is counted and no row comes back. Prepared, it is
# planned once for a connection; planning took most of its time. Once a second is as exact as ``last_used_at`` is ever
# told, and spares a busy key's row: of calls at once, one writes it. The commit does not wait for the disk: what a
# crash of the machine could lose is a count and a time of last use.
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
    """Return what is stored of a key: the SHA-256 of its 64 characters (rule 5.1)."""
    return tokens.sha256(api_key.encode())


def admit(api_key: str) -> tuple[TenantScope, Calls] | None:
    """Return the owner of the key and the calls of their organization in that environment, with this one counted. None
    for a key that is malformed, unknown or revoked, which counts nowhere.

    A statement of its own outside any transaction, so that the counter's row is locked for no longer than it takes.
    """
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
        forget(_FORGOTTEN_AT_ONCE)  # many addresses leave as many counts
    return position.number


def minute_of(moment: datetime) -> int:
    """Return the minutes since the epoch."""
    return int(moment.timestamp()) // 60
