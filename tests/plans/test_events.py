"""How PostgreSQL reads a page of a long stream of events: by the index that has its order, for any values."""

import re
from typing import Any

import pytest
from django.db import connection

from paraph.webhooks.event_log import _PAGE
from tests.plans.skewed import nodes
from tests.webhooks.parties import record, told

_EVENTS = 50_000
INDEXES = {
    (False, False): "event_position",
    (True, False): "event_of_type",
    (False, True): "event_of_request",
    (True, True): "event_of_request",
}
"""By whether the events of one type, and of one request, are asked for."""
_COPIES = """
    INSERT INTO webhooks_event (entry_id, organization_id, environment, request_id, event_type, payload, held, position,
        published_at)
    SELECT entry_id + n, organization_id + mod(n, 2), environment, request_id + n / 10,
        CASE mod(n, 50) WHEN 0 THEN 'request.expired' ELSE event_type END, payload, false, n + 1, now()
    FROM webhooks_event, generate_series(1, %s) AS n
"""


@pytest.fixture
def long_stream(db: None) -> None:
    """Events of two organizations."""
    made, _ = told()
    record(made.request, "signer.notified", made.signers[0])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_COPIES, [_EVENTS])
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE webhooks_event, webhooks_eventstream")


def test_the_index_gives_the_page(long_stream: None) -> None:
    for choice, index in INDEXES.items():
        found = plan(_PAGE[choice])
        read = [node.get("Relation Name") for node in found if node["Node Type"] == "Seq Scan"]
        assert "webhooks_event" not in read, choice
        [page] = [node for node in found if node.get("Alias") == "event"]
        assert (page["Node Type"], page["Index Name"]) == ("Index Scan", index), choice
        assert all(node["Plan Rows"] < 1000 for node in found if node["Node Type"] == "Sort"), choice  # a page at most


def plan(statement: str) -> list[dict[str, Any]]:
    """The nodes of the plan for any values."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    for number, name in enumerate(names, start=1):
        statement = statement.replace(f"%({name})s", f"${number}")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {statement}")
        return list(nodes(cursor.fetchone()[0][0]["Plan"]))
