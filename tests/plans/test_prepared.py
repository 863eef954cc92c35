"""How PostgreSQL plans the prepared statements of events and deliveries, for any values: by an index, however long the
stream is and however many wait for their retry; and the settings of tables that docs/operating.md advises."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from paraph.webhooks.delivery_queue import _ANY_DUE, _CLAIM, _LOADS
from paraph.webhooks.event_log import _PAGE
from tests.plans.skewed import nodes
from tests.webhooks.parties import record, told

pytestmark = pytest.mark.django_db

INDEXES = {
    (False, False): "event_position",
    (True, False): "event_of_type",
    (False, True): "event_of_request",
    (True, True): "event_of_request",
}
"""By whether the events of one type, and of one request, are asked for."""
_EVENTS = """
    INSERT INTO webhooks_event (entry_id, organization_id, environment, request_id, event_type, payload, held, position,
        published_at)
    SELECT entry_id + n, organization_id + mod(n, 2), environment, request_id + n / 10,
        CASE mod(n, 50) WHEN 0 THEN 'request.expired' ELSE event_type END, payload, false, n + 1, now()
    FROM webhooks_event, generate_series(1, 50000) AS n
"""
"""Of two organizations."""
_DELIVERIES = """
    INSERT INTO webhooks_delivery (application_id, request_id, destination, url, endpoint, event_type, occurred_at,
        payload, status, failures, due_at, trace)
    SELECT application_id, request_id, destination, url, endpoint || mod(number, 50), event_type, occurred_at, payload,
        'waiting', 1, now() + interval '1 h' + number * interval '1 ms', ''
    FROM webhooks_delivery, generate_series(1, 100000) AS number
"""
"""Retries of fifty endpoints that wait for hours, beside one delivery that is due."""


def copied(statement: str) -> None:
    """Make an event and its delivery, and copy one of them very often."""
    made, _ = told()
    record(made.request, "signer.notified", made.signers[0])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE webhooks_event, webhooks_eventstream, webhooks_delivery")


def plan(statement: str) -> list[dict[str, Any]]:
    """The nodes of the plan for any values, which assumes that a third of all rows are due."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    for number, name in enumerate(names, start=1):
        statement = statement.replace(f"%({name})s", f"${number}")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {statement}")
        return nodes(cursor.fetchone()[0][0]["Plan"])


def walked(found: list[dict[str, Any]]) -> list[Any]:
    """The tables that the plan reads by a sequential scan."""
    return [node.get("Relation Name") for node in found if node["Node Type"] == "Seq Scan"]


def test_an_index_gives_each_page_of_events() -> None:
    copied(_EVENTS)
    for choice, index in INDEXES.items():
        found = plan(_PAGE[choice])
        assert "webhooks_event" not in walked(found), choice
        [page] = [node for node in found if node.get("Alias") == "event"]
        assert (page["Node Type"], page["Index Name"]) == ("Index Scan", index), choice
        assert all(node["Plan Rows"] < 1000 for node in found if node["Node Type"] == "Sort"), choice  # at most a page


def test_no_poll_for_deliveries_that_are_due_reads_the_whole_table() -> None:
    copied(_DELIVERIES)
    for statement in (_ANY_DUE, _LOADS, _CLAIM):
        assert "webhooks_delivery" not in walked(plan(statement)), statement


def test_postgresql_takes_the_advice() -> None:
    text = (Path(__file__).parents[2] / "docs/operating.md").read_text()
    statements = re.findall(r"^    (ALTER TABLE \w+ SET \(.*\);)$", text, re.MULTILINE)
    assert len(statements) == 6
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("SELECT count(*) FROM pg_class WHERE reloptions::text LIKE '%autovacuum%'")
        assert cursor.fetchone() == (6,)
