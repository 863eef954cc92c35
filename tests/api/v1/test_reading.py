"""What a page of signature requests costs the database."""

import json
from typing import Any

import pytest
from django.db import connection

from paraph.api.v1 import signature_request_shapes
from paraph.kernel import clock
from tests.factories import Scene, scene

pytestmark = pytest.mark.django_db
TABLES = ("signature_requests_field", "signature_requests_copyrecipient")


def searched(made: Scene) -> dict[str, int]:
    """How often the page of this request looks into the tables of fields and copies."""
    values: dict[str, Any] = {
        "ids": [made.request.pk],
        "organization": made.request.organization_id,
        "environment": "sandbox",
        "now": clock.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {signature_request_shapes._READ}", values)
        [answer] = cursor.fetchone()
    plans = answer if isinstance(answer, list) else json.loads(answer)
    nodes = list(_nodes(plans[0]["Plan"]))
    looks = {table: [node["Actual Loops"] for node in nodes if node.get("Relation Name") == table] for table in TABLES}
    return {table: sum(times) for table, times in looks.items()}


def _nodes(plan: dict[str, Any]) -> Any:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def test_a_request_without_fields_and_copies_is_read_without_looking_for_them() -> None:
    assert searched(scene(signers=2)) == dict.fromkeys(TABLES, 0)
    assert all(searched(scene(signers=2, fields=[{}], copies=1)).values())
