"""Who calls, and how often: the key look-up, the counters and ``last_used_at`` in one round trip."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from paraph.kernel import clock, tokens
from paraph.organizations.scope import Caller

BAD_CALLS_PER_MINUTE = 60

_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)

# One statement outside any transaction, so that the counter's row is locked for no longer than it takes. Its commit
# does not wait for the disk: what a crash could lose is a count and a time of last use.
# A window that lies one ahead is another server's clock, and counts; one further ahead is a clock set back.
_ADMIT = """
WITH caller AS (
    SELECT key.id, key.sha256, application.id AS application_id, application.organization_id,
           application.environment, organization.plan
    FROM organizations_apikey AS key
    JOIN organizations_application AS application ON application.id = key.application_id
    JOIN organizations_organization AS organization ON organization.id = application.organization_id
    WHERE key.sha256 = %(sha256)s AND key.revoked_at IS NULL
), used AS (
    UPDATE organizations_apikey AS key SET last_used_at = %(now)s FROM caller
    WHERE key.id = caller.id
      AND (key.last_used_at IS NULL OR key.last_used_at < date_trunc('second', %(now)s::timestamptz))
), counted AS (
    INSERT INTO organizations_usage AS usage (organization_id, environment, minute, minute_calls, hour, hour_calls)
    SELECT organization_id, environment, %(minute)s, 1, %(hour)s, 1 FROM caller
    ON CONFLICT (organization_id, environment) DO UPDATE SET
        minute = CASE WHEN usage.minute - EXCLUDED.minute IN (0, 1) THEN usage.minute ELSE EXCLUDED.minute END,
        minute_calls = CASE WHEN usage.minute - EXCLUDED.minute IN (0, 1) THEN usage.minute_calls + 1 ELSE 1 END,
        hour = CASE WHEN usage.hour - EXCLUDED.hour IN (0, 1) THEN usage.hour ELSE EXCLUDED.hour END,
        hour_calls = CASE WHEN usage.hour - EXCLUDED.hour IN (0, 1) THEN usage.hour_calls + 1 ELSE 1 END
    RETURNING minute, minute_calls, hour, hour_calls
)
SELECT caller.sha256, caller.organization_id, caller.environment, caller.plan, caller.application_id,
       counted.minute, counted.minute_calls, counted.hour, counted.hour_calls,
       set_config('synchronous_commit', 'off', true)
FROM caller, counted
"""

_BAD_CALL = """
WITH forgotten AS (
    DELETE FROM organizations_badkeycalls WHERE minute < %(minute)s - 60 AND address <> %(address)s
), counted AS (
    INSERT INTO organizations_badkeycalls AS bad (address, minute, calls) VALUES (%(address)s, %(minute)s, 1)
    ON CONFLICT (address) DO UPDATE SET
        minute = EXCLUDED.minute,
        calls = CASE WHEN bad.minute = EXCLUDED.minute THEN bad.calls + 1 ELSE 1 END
    RETURNING calls
)
SELECT calls, set_config('synchronous_commit', 'off', true) FROM counted
"""


@dataclass(frozen=True)
class Calls:
    """Calls so far, this one included. ``minute`` and ``hour`` are the windows, counted from the epoch."""

    minute: int
    in_minute: int
    hour: int
    in_hour: int


def key_hash(api_key: str) -> bytes:
    """What is stored of a key: the SHA-256 of its 64 characters (specification 5.1)."""
    return tokens.sha256(api_key.encode())


def admit(api_key: str) -> tuple[Caller, Calls] | None:
    """The owner of the key and the calls of their organization in that environment, with this one counted.
    None for a key that is malformed, unknown or revoked, which counts nowhere."""
    if not _KEY.fullmatch(api_key):
        return None
    wanted, now = key_hash(api_key), clock.now()
    parameters: dict[str, Any] = {"sha256": wanted, "now": now, "minute": minute_of(now), "hour": minute_of(now) // 60}
    with connection.cursor() as cursor:
        cursor.execute(_ADMIT, parameters)
        row = cursor.fetchone()
    if row is None or not tokens.same(bytes(row[0]), wanted):
        return None
    organization_id, environment, plan, application_id = row[1:5]
    return Caller(organization_id, environment, plan, application_id), Calls(*row[5:9])


def count_bad_call(address: str) -> int:
    """Counts a call without a valid key and returns how many came from the address in this minute."""
    with connection.cursor() as cursor:
        cursor.execute(_BAD_CALL, {"address": address, "minute": minute_of(clock.now())})
        return int(cursor.fetchone()[0])


def minute_of(moment: datetime) -> int:
    """Minutes since the epoch."""
    return int(moment.timestamp()) // 60
