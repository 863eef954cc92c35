"""Who calls, and how often: the key look-up, the counters and ``last_used_at`` in one round trip."""

import re
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db import connection

from paraph.database.prepared_statements import one_row
from paraph.kernel import clock, tokens
from paraph.organizations.scope import Caller

BAD_CALLS_PER_MINUTE = 60

_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)

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


class Prefetch(NamedTuple):
    """What is read in the same round trip, whoever calls: an SQL expression over ``caller.organization_id`` and
    ``caller.environment``, which must give nothing that these two may not see, and the ``value`` of its ``$3``."""

    expression: str
    value: int


class Calls(NamedTuple):
    """Calls so far, this one included. ``minute`` and ``hour`` are the windows, counted from the epoch."""

    minute: int
    in_minute: int
    hour: int
    in_hour: int


def key_hash(api_key: str) -> bytes:
    """What is stored of a key: the SHA-256 of its 64 characters (specification 5.1)."""
    return tokens.sha256(api_key.encode())


def admit(api_key: str, prefetch: Prefetch | None = None) -> tuple[Caller, Calls, bytes | None] | None:
    """The owner of the key, the calls of their organization in that environment, with this one counted, and what
    was to be read along. None for a key that is malformed, unknown or revoked, which counts nowhere.

    A statement of its own outside any transaction, so that the counter's row is locked for no longer than it takes.
    """
    if not _KEY.fullmatch(api_key):
        return None
    wanted = b"\\x" + key_hash(api_key).hex().encode()
    values = [wanted, clock.now().isoformat().encode(), *([b"%d" % prefetch.value] if prefetch else [])]
    row: list[Any] = one_row(_admitting(prefetch.expression if prefetch else "NULL"), values)
    sha256, organization_id, environment, plan, application_id, minute, in_minute, hour, in_hour, found = row
    if sha256 is None or not tokens.same(sha256, wanted):
        return None
    caller = Caller(int(organization_id), environment.decode(), plan.decode(), int(application_id))
    return caller, Calls(int(minute), int(in_minute), int(hour), int(in_hour)), found


def count_bad_call(address: str) -> int:
    """Counts a call without a valid key and returns how many came from the address in this minute."""
    with connection.cursor() as cursor:
        cursor.execute(_BAD_CALL, {"address": address, "minute": minute_of(clock.now())})
        return int(cursor.fetchone()[0])


def minute_of(moment: datetime) -> int:
    """Minutes since the epoch."""
    return int(moment.timestamp()) // 60


@cache
def _admitting(prefetch: str) -> str:
    """The function, and why it is one: organizations/migrations/0003_admit.py."""
    return f"SELECT caller.*, {prefetch} FROM organizations_admit($1, $2) AS caller"  # noqa: S608  our own expressions
