"""Lists of an organization with a million requests beside those of one with a thousand: milliseconds and their ratio.

    python -m benchmarks.lists [--large 1000000] [--small 1000]

In a database of its own, filled inside PostgreSQL: as many documents as requests, a signer and a document each, spread
over a year. Filling takes one to three minutes. Each list is read 15 times through the whole API, rate limit and count
included; the median counts. Every ratio is to stay below 3.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from paraph.postgres import Server

_READS = 15

# Without triggers: counted row by row, a million rows of one transaction would be a million versions of a few rows.
FILL = """
SET session_replication_role = replica;
INSERT INTO documents_document (
    organization_id, environment, name, sha256, file_size, pages, preflight, status, object_key, created_at
) SELECT {organization}, 'sandbox', 'contract.pdf', '\\x00', 1000, '[[595, 842]]', '{{}}',
         CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'ready' END, 'bench/{organization}/' || n,
         date_trunc('second', now() - interval '365 days' * (1 - n / {count}.0))
  FROM generate_series(1, {count}) AS n;
INSERT INTO signature_requests_signaturerequest (
    organization_id, environment, application_id, mode, status, finalized, validity_days, send_email,
    initials_required, notify_signers_on_completion, callback_url, locale, created_at, expires_at
) SELECT {organization}, 'sandbox', {application}, 'parallel',
         CASE WHEN n % 10 = 0 THEN 'pending' WHEN n % 10 = 1 THEN 'expired' ELSE 'completed' END,
         true, 30, false, false, false, '', 'en', document.created_at, document.created_at + interval '30 days'
  FROM generate_series(1, {count}) AS n
  JOIN documents_document AS document ON document.object_key = 'bench/{organization}/' || n ORDER BY n;
INSERT INTO signature_requests_signer (
    request_id, first_name, last_name, email, phone, "order", otp_channel, status, token_salt, locale
) SELECT id, 'Ada', 'Lovelace', 'ada@example.com', '', 1, '', 'pending', '\\x00', ''
  FROM signature_requests_signaturerequest WHERE organization_id = {organization};
INSERT INTO signature_requests_requestdocument (request_id, document_id, position)
SELECT request.id, document.id, 0
FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM signature_requests_signaturerequest
      WHERE organization_id = {organization}) AS request
JOIN (SELECT id, row_number() OVER (ORDER BY id) AS n FROM documents_document
      WHERE organization_id = {organization}) AS document USING (n);
INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
SELECT organization_id, environment, 'documents', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
FROM documents_document WHERE organization_id = {organization} GROUP BY 1, 2, 4, 5;
INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
SELECT organization_id, environment, 'signature_requests', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
FROM signature_requests_signaturerequest WHERE organization_id = {organization} GROUP BY 1, 2, 4, 5;
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=1_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder:
        os.environ |= {
            "PARAPH_DATA_DIR": folder,
            "PARAPH_RATE_LIMIT_FACTOR": "1000000",
            "PARAPH_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "paraph.config.settings",
        }
        server = Server(Path(folder))
        server.start()
        try:
            _measure(arguments.large, arguments.small)
        finally:
            server.stop()
            shutil.rmtree((Path(folder) / "postgres").resolve(), ignore_errors=True)  # as root it lies behind a link


def _measure(large: int, small: int) -> None:
    import django

    django.setup()
    from django.db import connections

    from paraph.operations.migrations import migrate

    migrate()
    began = time.perf_counter()
    keys = [(count, _filled(count)) for count in (large, small)]
    _analyze()
    print(f"filled in {time.perf_counter() - began:.0f} s\n")
    print(f"{'':52}{f'{large:,} ms':>14}{f'{small:,} ms':>11}{'ratio':>8}")
    for title, path, query in _lists():
        times = [_median(key, path, _asked(query, count)) for count, key in keys]
        print(f"{title:52}{times[0]:14.1f}{times[1]:11.1f}{times[0] / times[1]:8.2f}", flush=True)
    connections.close_all()


def _filled(count: int) -> str:
    """The API key of a new organization with so many requests."""
    from django.db import connection

    from paraph.organizations.registration import create_application, create_organization

    organization = create_organization(f"{count}", "pro")
    made = create_application(organization.pk, "sandbox", "bench")
    with connection.cursor() as cursor:
        cursor.execute(FILL.format(organization=organization.pk, application=made.application.pk, count=count))
        cursor.execute("RESET session_replication_role")
    return made.api_key


def _analyze() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


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


def _median(key: str, path: str, query: dict[str, Any]) -> float:
    from django.test import Client

    client, times = Client(), []
    for _ in range(_READS + 2):  # two to warm
        began = time.perf_counter()
        response: Any = client.get(f"/api/v1/{path}", query_params=query, headers={"X-Api-Key": key})
        times.append(time.perf_counter() - began)
        if response.status_code != 200 or not response.json()["data"]:
            raise SystemExit(f"{path} {query}: {response.content.decode()[:300]}")
    return statistics.median(times[2:]) * 1000


if __name__ == "__main__":
    main()
