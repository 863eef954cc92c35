"""Lists of an organization with a million requests beside those of one with a thousand: milliseconds and their ratio.

    python -m benchmarks.lists [--large 1000000] [--small 1000]

In a database of its own (:mod:`benchmarks.filling`), spread over a year; filling takes a minute or two. Each list is
read 15 times in turns through the whole API, rate limit and count included; the median counts. Every ratio is to stay
below 3.
"""

import argparse
import os
import time
from functools import partial
from typing import Any

from benchmarks.filling import fill, new_crowd, scratch_database
from benchmarks.turns import in_turns

_READS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=1_000)
    arguments = parser.parse_args()
    os.environ |= {"PARAPH_RATE_LIMIT_FACTOR": "1000000", "PARAPH_LOG_LEVEL": "WARNING"}
    with scratch_database():
        _measure(arguments.large, arguments.small)


def _measure(large: int, small: int) -> None:
    import django

    django.setup()
    from django.db import connections
    from django.test import Client

    from paraph.database.migrations import migrate

    migrate()
    began = time.perf_counter()
    crowds = [new_crowd(f"{count}", 1, count) for count in (large, small)]
    fill(*(crowd for crowd, _key in crowds))
    keys = [(count, key) for count, (_crowd, key) in zip((large, small), crowds, strict=True)]
    print(f"filled in {time.perf_counter() - began:.0f} s\n")
    print(f"{'':52}{f'{large:,} ms':>14}{f'{small:,} ms':>11}{'ratio':>8}")
    for title, path, query in _lists():
        times = in_turns([partial(_read, Client(), key, path, _asked(query, count)) for count, key in keys], _READS)
        print(f"{title:52}{times[0]:14.1f}{times[1]:11.1f}{times[0] / times[1]:8.2f}", flush=True)
    connections.close_all()


def _lists() -> list[tuple[str, str, dict[str, Any]]]:
    """Title, path and query; a page is a share of all pages."""
    bounds = {"created_after": _day(200), "created_before": _day(100)}
    lists: list[tuple[str, str, dict[str, Any]]] = []
    for path, status in (("signature_requests", "pending"), ("documents", "ready")):
        lists += [
            (f"{path}, first page", path, {}),
            (f"{path}, middle page", path, {"page": 0.5}),
            (f"{path}, last page", path, {"page": 1.0}),
            (f"{path}, descending, middle page", path, {"page": 0.5, "order": "desc"}),
            (f"{path}, {status}", path, {"status": status}),
            (f"{path}, {status}, within dates, descending", path, {"status": status, "order": "desc", **bounds}),
            (f"{path}, within dates", path, bounds),
            (f"{path}, within moments", path, {key: f"{day}T11:30:00Z" for key, day in bounds.items()}),
        ]
    return lists


def _day(ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86_400))


def _asked(query: dict[str, Any], count: int) -> dict[str, Any]:
    return query | ({"page": max(1, int(query["page"] * count / 20))} if "page" in query else {})


def _read(client: Any, key: str, path: str, query: dict[str, Any]) -> None:
    response: Any = client.get(f"/api/v1/{path}", query_params=query, headers={"X-Api-Key": key})
    if response.status_code != 200 or not response.json()["data"]:
        raise SystemExit(f"{path} {query}: {response.content.decode()[:300]}")


if __name__ == "__main__":
    main()
