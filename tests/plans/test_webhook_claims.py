"""How PostgreSQL looks for due deliveries while very many wait for their retry: by an index, whatever it must assume.

Prepared statements get a plan for any values (``EXPLAIN (GENERIC_PLAN)``), which takes a third of all rows to be due.
"""

import re
from typing import Any

import pytest
from django.db import connection

from paraph.webhooks import delivery_queue as claiming
from tests.plans.skewed import nodes
from tests.webhooks.parties import record, told

_WAITING = 100_000
_COPIES = """
    INSERT INTO webhooks_delivery (application_id, request_id, destination, url, endpoint, event_type, occurred_at,
        payload, status, failures, due_at, trace)
    SELECT application_id, request_id, destination, url, endpoint || mod(number, 50), event_type, occurred_at, payload,
        'waiting', 1, now() + interval '1 h' + number * interval '1 ms', ''
    FROM webhooks_delivery, generate_series(1, %s) AS number
"""


@pytest.fixture
def crowded(db: None) -> None:
    """Retries of fifty endpoints that wait for hours, and one delivery that is due."""
    made, _ = told()
    record(made.request, "request.expired")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_COPIES, [_WAITING])
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE webhooks_delivery")


def test_no_statement_of_the_poll_reads_the_whole_table(crowded: None) -> None:
    for statement in (claiming._ANY_DUE, claiming._LOADS, claiming._CLAIM):
        assert reads(statement, "Seq Scan", "webhooks_delivery") == [], statement


def reads(statement: str, kind: str, table: str) -> list[dict[str, Any]]:
    """The nodes of this kind that read the table, in the plan for any values."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    numbered = re.sub(r"%\((\w+)\)s", number, statement)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {numbered}")
        plan = cursor.fetchone()[0][0]["Plan"]
    return [node for node in nodes(plan) if node["Node Type"] == kind and node.get("Relation Name") == table]
