"""On a table with many rows every list reads an index, in its order: no walk through the table, no sorting."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.v1.api_clients import ApiClient, api_client, payload

QUERIES: list[dict[str, Any]] = [
    {},
    {"page": 100},
    {"order": "desc", "page": 100},
    {"status": "pending"},
    {"status": "pending", "order": "desc", "created_after": "2026-02-01", "created_before": "2026-02-10T12:00:00Z"},
    {"created_after": "2026-02-01T06:00:00Z"},
    {"external_id": "e7"},
    {"external_id": "e7", "order": "desc", "status": "pending"},
]
TABLES = {"/documents": "documents_document", "/signature_requests": "signature_requests_signaturerequest"}
COPY = "INSERT INTO {table} ({columns}) SELECT {values} FROM {table} AS old, generate_series(1, 4000) AS n"


@pytest.fixture
def busy(db: None) -> ApiClient:
    """Who has thousands of rows, beside another who has as many."""
    owner = api_client()
    for one in (owner, api_client()):
        one.create(payload(one.document()))
    changed = {"id": "default", "created_at": "timestamptz '2026-01-01Z' + n * interval '20 minutes'"}
    copy("documents_document", changed | {"object_key": "'x' || old.id || '-' || n"})
    copy("signature_requests_signaturerequest", changed | {"external_id": "'e' || n % 500"})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE documents_document, signature_requests_signaturerequest, organizations_tally")
    owner.checked = False  # the copies have neither signers nor documents
    return owner


def copy(table: str, changed: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        names = [column.name for column in connection.introspection.get_table_description(cursor, table)]
        names.remove("id")
        values = ", ".join(changed.get(name, f"old.{name}") for name in names)
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(COPY.format(table=table, columns=", ".join(names), values=values))
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("DELETE FROM organizations_tally WHERE resource = %s", [resource(table)])
        cursor.execute(
            "INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count) "
            f"SELECT organization_id, environment, %s, (created_at AT TIME ZONE 'UTC')::date, status, count(*) "
            f"FROM {table} GROUP BY 1, 2, 4, 5",
            [resource(table)],
        )


def resource(table: str) -> str:
    return "documents" if table.startswith("documents") else "signature_requests"


def test_the_index_gives_the_page(busy: ApiClient) -> None:
    """Of every list by every query, on one copy of the rows, which takes a second to make."""
    for path, table in TABLES.items():
        for query in (asked(query, path) for query in QUERIES):
            with CaptureQueriesContext(connection) as queries:
                assert busy.get(path, **query).status_code == 200
            pages = [each["sql"] for each in queries if f'FROM "{table}"' in (each["sql"] or "")]
            assert pages, (path, query)
            for statement in pages:
                plan = explained(statement)
                by_index = "Index" in plan and f"Seq Scan on {table}" not in plan and "Sort" not in plan
                assert by_index, f"{path} {query}\n{plan}"


def asked(query: dict[str, Any], path: str) -> dict[str, Any]:
    """The same by a status that this list knows."""
    return query | {"status": "ready"} if "status" in query and path == "/documents" else query


def explained(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + statement.replace("%", "%%"))
        return "\n".join(line for (line,) in cursor.fetchall())
