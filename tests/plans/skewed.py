"""An installation in which nearly everything belongs to one organization, and what a statement reads there.

The rows are real, and so are the statistics that PostgreSQL makes of them, within one transaction that is undone. So
are the plans: one that is right for an organization with ten requests may read the rows of all the others.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import connection, transaction

from benchmarks.filling import Crowd, write
from paraph.database import base
from paraph.tenants.models import Application

LARGE = frozenset(
    {
        "documents_document", "evidence_prooffile", "evidence_sealeddocument", "journal_entry",
        "messaging_capturedmessage", "webhooks_delivery", "webhooks_event",
        "signature_requests_requestdocument", "signature_requests_searchterm",
        "signature_requests_signaturerequest", "signature_requests_signer",
    }
)  # fmt: skip
_SMALL = """
    INSERT INTO organizations_organization ({columns}) SELECT {columns}
    FROM organizations_organization, generate_series(1, %s) WHERE id = %s RETURNING id
"""
_BESIDE = """
    INSERT INTO messaging_capturedmessage ("to", channel, subject, text, message_id, created_at)
    SELECT email, 'email', 'Please sign', 'Please sign', 'invitation-' || id, now() FROM signature_requests_signer;
    INSERT INTO request_templates_bulkrow (bulk_send_id, number, cells, signers, state, problems, request_id)
    SELECT (SELECT min(id) FROM request_templates_bulksend), 100 + id, '[]', '[]', 'sent', '[]', id
    FROM signature_requests_signaturerequest WHERE id %% 50 = 0;
    INSERT INTO webhooks_event (entry_id, organization_id, environment, request_id, event_type, payload, held, position,
        published_at)
    SELECT id, organization_id, environment, request_id, 'signer.signed', '{}', false, 100 + id, created_at
    FROM journal_entry WHERE position = 1 AND id NOT IN (SELECT entry_id FROM webhooks_event);
    INSERT INTO webhooks_delivery (application_id, request_id, entry_id, destination, url, endpoint, event_type,
        occurred_at, payload, status, failures, due_at, finished_at)
    SELECT %(application)s, request_id, id, 'application', 'https://hooks.example/', '1 https://hooks.example:443',
        'signer.signed', created_at, '{}', 'delivered', 0, created_at, created_at
    FROM journal_entry WHERE position = 1
"""


def fill(application: Application, count: int, organizations: int) -> int:
    """Give the organization of the application ``count`` requests in its environment, and ten to each of
    ``organizations`` new ones, with all that goes with a request. Return the id of one of the new organizations."""
    columns = [str(field.column) for field in application.organization._meta.concrete_fields if not field.primary_key]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_SMALL.format(columns=", ".join(columns)), [organizations, application.organization_id])
        small = [number for (number,) in cursor.fetchall()]
        more: Any = {"evidence": True, "entries": 2, "environment": application.environment}
        _forget_tallies(cursor, application)
        write(cursor, Crowd([application.organization_id], [application.pk], count, **more))
        write(cursor, Crowd(small, [application.pk] * organizations, 10 * organizations, **more))
        cursor.execute(_BESIDE, {"application": application.pk})
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE")
    return int(small[0])


def _forget_tallies(cursor: Any, application: Application) -> None:
    """Forget the counts of the rows that exist already: each day is counted only once."""
    for table in ("tally", "storage"):
        cursor.execute(
            f"DELETE FROM organizations_{table} WHERE organization_id = %s AND environment = %s",
            [application.organization_id, application.environment],
        )


class Asked:
    """The statements of a block by their text, each with its first values."""

    def __init__(self) -> None:
        self.statements: dict[str, Any] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        planned = base.DatabaseWrapper.planned

        def planned_noted(own: Any, statement: str, values: Any) -> Any:
            self.statements.setdefault(statement, values)
            return planned(own, statement, values)

        def noted(execute: Any, sql: str, values: Any, many: bool, context: Any) -> Any:
            self.statements.setdefault(sql, values)
            return execute(sql, values, many, context)

        with patch.object(base.DatabaseWrapper, "planned", planned_noted), connection.execute_wrapper(noted):
            yield

    def read(self, most: int) -> Iterator[str]:
        """Each step of a plan that scans a large table or reads more than ``most`` of its rows, with the statement."""
        for statement, values in self.statements.items():
            if statement.lstrip().startswith(("SELECT", "WITH", "UPDATE", "DELETE")) and "INSERT INTO" not in statement:
                for node in nodes_read(statement, values):
                    if node.get("Relation Name") in LARGE and (
                        (node["Node Type"] == "Seq Scan" and node["Actual Loops"]) or _rows(node) > most
                    ):
                        told = {name: node.get(name) for name in ("Node Type", "Relation Name", "Index Name")}
                        yield f"{_rows(node):,.0f} rows, {told}: {' '.join(statement.split())}"


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """All nodes of a plan that ``EXPLAIN (FORMAT JSON)`` printed."""
    return [plan, *(node for part in plan.get("Plans", []) for node in nodes(part))]


def nodes_read(statement: str, values: Any) -> list[dict[str, Any]]:
    """Run the statement; return the nodes of its plan with the rows that each read. Its changes are undone."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
        plan: dict[str, Any] = cursor.fetchone()[0][0]["Plan"]
        transaction.set_rollback(True)
    return nodes(plan)


def _rows(node: dict[str, Any]) -> float:
    gone = sum(count for name, count in node.items() if name.startswith("Rows Removed"))
    return float((node["Actual Rows"] + gone) * node["Actual Loops"])
