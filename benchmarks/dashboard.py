"""Pages of the dashboard for an organization with a million requests beside those of one with a thousand:
milliseconds and their ratio.

    python -m benchmarks.dashboard [--requests 1000000] [--small 1000] [--reads 15]

In a database of its own, filled inside PostgreSQL as that of :mod:`benchmarks.lists`, with words to search for. Each
page is read several times through the whole service, by an owner who is logged in; the median counts. Every ratio is to
stay below 3.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.lists import FILL
from paraph.postgres import Server

_MOST = 3.0

# Everybody is called Ada, one in a thousand Lovelace7, and each has an address of their own.
_WORDS = """
UPDATE signature_requests_signer AS signer
SET last_name = 'Lovelace' || request_id %% 1000, email = 'ada' || request_id || '@example.com'
FROM signature_requests_signaturerequest AS request
WHERE request.id = signer.request_id AND request.organization_id = %(organization)s;
INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
SELECT request.organization_id, request.environment, word, request.id
FROM signature_requests_signer AS signer
JOIN signature_requests_signaturerequest AS request ON request.id = signer.request_id,
unnest(ARRAY['ada', lower(signer.last_name), signer.email, 'example.com', 'contract']) AS word
WHERE request.organization_id = %(organization)s;
RESET session_replication_role;
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000, help="of the large organization")
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--reads", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-", ignore_cleanup_errors=True) as folder:
        os.environ |= {
            "PARAPH_DATA_DIR": folder,
            "PARAPH_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "paraph.config.settings",
        }
        server = Server(Path(folder))
        server.start()
        try:
            ratios = _measured(arguments.requests, arguments.small, arguments.reads)
        finally:
            server.stop()
    sys.exit(f"the worst ratio is {max(ratios):.2f}" if max(ratios) >= _MOST else 0)


def _measured(large: int, small: int, reads: int) -> list[float]:
    import django

    django.setup()
    from django.db import connections

    from paraph.operations.migrations import migrate

    migrate()
    began = time.perf_counter()
    organizations = [_filled(count) for count in (large, small)]
    with connections["default"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    print(f"filled in {time.perf_counter() - began:.0f} s\n")
    print(f"{'':44}{f'{large:,} ms':>14}{f'{small:,} ms':>11}{'ratio':>8}")
    ratios = []
    parties = [(_owner(organization), _known(organization)) for organization in organizations]
    for title, address in _pages().items():
        times = [_median(client, address, known, reads) for client, known in parties]
        ratios.append(times[0] / times[1])
        print(f"{title:44}{times[0]:14.1f}{times[1]:11.1f}{ratios[-1]:8.2f}", flush=True)
    connections.close_all()
    return ratios


def _filled(count: int) -> int:
    """The id of a new organization with so many requests."""
    from django.db import connection

    from paraph.organizations.registration import create_application, create_organization

    organization = create_organization(f"{count}", "pro").pk
    application = create_application(organization, "sandbox", "bench").application.pk
    with connection.cursor() as cursor:
        cursor.execute(FILL.format(organization=organization, application=application, count=count))
        cursor.execute(_WORDS, {"organization": organization})
    return organization


def _owner(organization: int) -> Any:
    from django.test import Client

    from paraph.members.models import Member, User

    user = User.objects.create(email=f"owner-{organization}@example.com")
    Member.objects.create(organization_id=organization, user=user, role="owner")
    client = Client()
    client.force_login(user)
    return client


def _known(organization: int) -> dict[str, int]:
    """What stands in addresses: the organization, and its request and document in the middle."""
    from paraph.documents.models import Document
    from paraph.signature_requests.models import SignatureRequest

    request = SignatureRequest.objects.filter(organization_id=organization).order_by("-pk")
    document = Document.objects.filter(organization_id=organization, status="ready").order_by("-pk")
    return {
        "organization": organization,
        "request": request.values_list("pk", flat=True)[request.count() // 2],
        "document": document.values_list("pk", flat=True)[document.count() // 2],
    }


def _pages() -> dict[str, str]:
    requests = "/app/{organization}/requests"
    return {
        "home": "/app/{organization}/",
        "requests": requests,
        "requests, oldest first": f"{requests}?order=asc",
        "requests, from the middle on": f"{requests}?following={{request}}",
        "requests, back from the middle": f"{requests}?previous={{request}}",
        "requests, pending": f"{requests}?status=pending",
        "requests, expired, from a day on": f"{requests}?status=expired&created_after={_day(100)}",
        "search, a name that all have": f"{requests}?q=ada",
        "search, that name, expired": f"{requests}?q=ada&status=expired",
        "search, the beginning of many names": f"{requests}?q=lovel",
        "search, one name in a thousand": f"{requests}?q=lovelace7",
        "search, two words": f"{requests}?q=ada+lovelace7",
        "search, an address": f"{requests}?q=ada{{request}}@example.com",
        "search, a file that all have": f"{requests}?q=contract.pdf",
        "search, a number": f"{requests}?q={{request}}",
        "search, no such word": f"{requests}?q=hopper",
        "a request": f"{requests}/{{request}}",
        "a request, verified": f"{requests}/{{request}}/verify",
        "documents": "/app/{organization}/documents",
        "documents, from the middle on": "/app/{organization}/documents?before={document}",
        "drafts": "/app/{organization}/drafts",
    }


def _day(ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86_400))


def _median(client: Any, address: str, known: dict[str, int], reads: int) -> float:
    times = []
    for _ in range(reads + 2):  # two to warm
        began = time.perf_counter()
        response = client.get(address.format_map(known))
        times.append(time.perf_counter() - began)
        if response.status_code != 200:
            raise SystemExit(f"{address}: {response.status_code} {response.content.decode()[:300]}")
    return statistics.median(times[2:]) * 1000


if __name__ == "__main__":
    main()
