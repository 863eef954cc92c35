"""Events of an environment with a long stream beside one with a short one: milliseconds and their ratio.

    python -m benchmarks.events [--large 10000000] [--small 10000]

In a database of its own (:mod:`benchmarks.filling`); ten million take some minutes and 6 GB. Each call is made 100
times in turns through the whole API, rate limit included; the median counts. Ends with 1 where a ratio is above 1.3.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.filling import new_crowd, scratch_database
from benchmarks.turns import in_turns

_READS, _MOST = 100, 1.3
_FILL = """
INSERT INTO webhooks_event (entry_id, organization_id, environment, request_id, event_type, payload, held, position,
    published_at)
SELECT {base} + n, {organization}, 'sandbox', {base} + n / 5,
    CASE WHEN n % 1000 = 0 THEN 'request.expired' ELSE 'signer.notified' END,
    '{{"event":"signer.notified","occurred_at":"2030-05-17T08:30:12Z","signature_request":{{"id":71,"status":"pending",'
    '"mode":"parallel"}},"signer":{{"id":141,"first_name":"Ada","last_name":"Lovelace","full_name":"Ada Lovelace",'
    '"email":"ada@example.com","status":"notified"}}}}',
    false, n, now() - interval '29 days' * (1 - n / {count}.0)
FROM generate_series(1::bigint, {count}) AS n;
INSERT INTO webhooks_eventstream (organization_id, environment, position, published_at)
SELECT {organization}, 'sandbox', {count}, max(published_at) FROM webhooks_event
WHERE organization_id = {organization} AND position = {count};
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument("--small", type=int, default=10_000)
    arguments = parser.parse_args()
    os.environ |= {"PARAPH_RATE_LIMIT_FACTOR": "1000000", "PARAPH_LOG_LEVEL": "WARNING"}
    with scratch_database():
        ratios = _measure(arguments.large, arguments.small)
    sys.exit(f"the worst ratio is {max(ratios):.2f}" if max(ratios) > _MOST else 0)


def _measure(large: int, small: int) -> list[float]:
    import django

    django.setup()
    from django.db import connections
    from django.test import Client

    from paraph.database.migrations import migrate

    migrate()
    began = time.perf_counter()
    sides = []
    for base, count in ((0, large), (10**12, small)):
        crowd, key = new_crowd(f"{count}", 1, count)
        _fill(base, crowd.organizations[0], count)
        sides.append((count, key, crowd.organizations[0]))
    with connections["default"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE webhooks_event, webhooks_eventstream")
    print(f"filled in {time.perf_counter() - began:.0f} s\n")
    print(f"{'':40}{f'{large:,} ms':>14}{f'{small:,} ms':>11}{'ratio':>8}")
    ratios = []
    for title, query in _calls():
        reads = [partial(_read, Client(), key, query(count, organization)) for count, key, organization in sides]
        times = in_turns(reads, _READS, warm=6)  # prepared then
        ratios.append(times[0] / times[1])
        print(f"{title:40}{times[0]:14.2f}{times[1]:11.2f}{ratios[-1]:8.2f}", flush=True)
    connections.close_all()
    return ratios


def _fill(base: int, organization: int, count: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(_FILL.format(base=base, organization=organization, count=count))
        cursor.execute("RESET session_replication_role")


def _calls() -> list[tuple[str, Callable[[int, int], dict[str, Any]]]]:
    """Title, and the query by how many events there are of which organization."""
    return [
        ("from the oldest, 50", lambda _count, _of: {}),
        ("behind the middle, 50", lambda count, of: {"after": _cursor(count // 2, of)}),
        ("behind the middle, 100", lambda count, of: {"after": _cursor(count // 2, of), "limit": 100}),
        ("the last 50", lambda count, of: {"after": _cursor(count - 50, of)}),
        ("at the end, nothing", lambda count, of: {"after": _cursor(count, of)}),
        ("latest", lambda _count, _of: {"after": "latest"}),
        ("one in a thousand, 5", lambda _count, _of: {"event": "request.expired", "limit": 5}),
    ]


def _cursor(position: int, organization: int) -> str:
    from paraph.webhooks.event_log import Cursor
    from paraph.webhooks.models import Event

    event = Event.objects.get(organization=organization, position=position)
    assert event.published_at
    return str(Cursor(position, event.published_at))


def _read(client: Any, key: str, query: dict[str, Any]) -> None:
    response: Any = client.get("/api/v1/events", query_params=query, headers={"X-Api-Key": key})
    if response.status_code != 200:
        raise SystemExit(f"{query}: {response.content.decode()[:300]}")


if __name__ == "__main__":
    main()
