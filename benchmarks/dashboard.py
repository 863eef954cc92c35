"""Pages of the dashboard for an organization with a million requests beside those of one with a thousand:
milliseconds and their ratio.

    python -m benchmarks.dashboard [--requests 1000000] [--small 1000] [--reads 15]

In a database of its own (:mod:`benchmarks.filling`): everybody is called Ada, one in a thousand Lovelace7, and each has
an address of their own. Each page of :mod:`benchmarks.pages` is read several times, in turns; the median counts. Every
ratio is to stay below 3.
"""

import argparse
import os
import sys
import time
from functools import partial
from typing import Any

from benchmarks.filling import fill, new_crowd, scratch_database
from benchmarks.pages import owner_cookies, page_addresses
from benchmarks.turns import in_turns

_MOST = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000, help="of the large organization")
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--reads", type=int, default=15)
    arguments = parser.parse_args()
    os.environ |= {"PARAPH_LOG_LEVEL": "WARNING"}
    with scratch_database():
        ratios = _measured(arguments.requests, arguments.small, arguments.reads)
    sys.exit(f"the worst ratio is {max(ratios):.2f}" if max(ratios) >= _MOST else 0)


def _measured(large: int, small: int, reads: int) -> list[float]:
    import django

    django.setup()
    from django.db import connections

    from paraph.database.migrations import migrate

    migrate()
    began = time.perf_counter()
    crowds = [new_crowd(f"{count}", 1, count)[0] for count in (large, small)]
    fill(*crowds)
    print(f"filled in {time.perf_counter() - began:.0f} s\n")
    print(f"{'':44}{f'{large:,} ms':>14}{f'{small:,} ms':>11}{'ratio':>8}")
    addresses = [page_addresses(crowd.organizations[0]) for crowd in crowds]
    clients = [_logged_in(crowd.organizations[0]) for crowd in crowds]
    ratios = []
    for title in addresses[0]:
        asks = [partial(_read, client, found[title]) for client, found in zip(clients, addresses, strict=True)]
        times = in_turns(asks, reads)
        ratios.append(times[0] / times[1])
        print(f"{title:44}{times[0]:14.1f}{times[1]:11.1f}{ratios[-1]:8.2f}", flush=True)
    connections.close_all()
    return ratios


def _logged_in(organization: int) -> Any:
    from django.test import Client

    client = Client()
    client.cookies = owner_cookies(organization)
    return client


def _read(client: Any, address: str) -> None:
    response = client.get(address)
    if response.status_code != 200:
        raise SystemExit(f"{address}: {response.status_code} {response.content.decode()[:300]}")


if __name__ == "__main__":
    main()
