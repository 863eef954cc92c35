"""Statements that the service sends again and again find their rows by indexes, however many rows there are.

The tests call the API, open the pages of signers and members, and run jobs and the polls of workers, so a new statement
of any of these is examined without a change here."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from procrastinate.contrib.django import app

from paraph.database.base import one_row
from paraph.flow.ending import expire_due
from paraph.flow.jobs import do_what_is_due, give_up
from paraph.kernel import clock
from paraph.operations.check.service_checks import CHECKS
from paraph.queue.jobs import QUEUES
from paraph.queue.stalled_jobs import forget_old_jobs, rescue_jobs
from paraph.tenants.models import Role
from tests.api.v1.api_clients import ApiClient, api_client, payload
from tests.dashboard.conftest import MemberClient, log_in, organization, proved
from tests.dashboard.matrix import MATRIX, PAGES
from tests.dashboard.one_of_everything import one_of_everything
from tests.dashboard.test_matrix import answered
from tests.flow.test_jobs import work_off
from tests.plans.large_tables import Scans, have_all_tables_seem_large
from tests.production import Client
from tests.webhooks.parties import ACCEPTED, REFUSED, answer_all, record, told

pytestmark = pytest.mark.django_db

__all__ = ["log_in", "organization"]  # fixtures
MAILED = {"send_email": True, "notify_signers_on_completion": True, "identity_declaration_accepted": True}
CHECKED = {"database", "workers", "webhooks", "sealing failures", "kept timestamps", "retention", "transparency log"}

# Beginnings of statements that read a whole table, which keeps the rows of one day or a row for each organization. They
# run by the clock, and nobody waits for them.
WHOLE = {
    "WITH held AS ( SELECT organization_id, environment, month, month_calls": "organizations_usage",
    'SELECT "organizations_organization"."id" AS "pk" FROM "organizations_organization" WHERE '
    '"organizations_organization"."deleted_at" IS NOT NULL': "organizations_organization",
    'SELECT "organizations_retention"."organization_id"': "organizations_retention",
    "SELECT request.id FROM (SELECT * FROM organizations_retention": "organizations_retention",
    "SELECT extract(epoch FROM %(now)s::timestamptz - make_interval(days => days)": "organizations_retention",
    "SELECT extract(epoch FROM date_trunc('day', %(now)s": "organizations_retention",
    'SELECT "webhooks_eventstream"."organization_id"': "webhooks_eventstream",
    'DELETE FROM "messaging_putoffmail" WHERE': "messaging_putoffmail",
    'SELECT COUNT(*) AS "__count" FROM "evidence_sealingfailure"': "evidence_sealingfailure",  # mostly empty
    'SELECT "evidence_sealingfailure"."request_id" AS "request_id", "evidence_sealingfailure"."cause" AS "cause"': (
        "evidence_sealingfailure"
    ),
}


@pytest.fixture
def scans() -> Iterator[Scans]:
    """Scans, of which a test may leave only those in ``WHOLE``."""
    scans = Scans()
    yield scans
    found = [f"{tables}: {sql}" for sql, tables in scans.found.items() if not may_read_all(sql, tables)]
    assert not found, "\n\n".join(found)


def may_read_all(statement: str, tables: set[str]) -> bool:
    return any(statement.startswith(beginning) and tables == {table} for beginning, table in WHOLE.items())


@pytest.mark.thorough
def test_pages_of_members(log_in: Callable[..., MemberClient], scans: Scans) -> None:
    everything = one_of_everything(log_in)
    have_all_tables_seem_large()
    _, owner = log_in(Role.OWNER, at=everything.organization)
    proved(owner)
    requests = f"/app/{everything.organization.pk}/requests"
    searches = [f"{requests}?{query}" for query in ("q=ada", "q=ada+love", "status=pending", "order=asc")]
    pages = [everything.addresses()[name] for name in sorted(PAGES)]
    forms = [address for name, address in everything.addresses().items() if MATRIX[name].sent == 303]
    with scans.watched():
        for method, addresses in (("get", [*pages, *searches]), ("post", forms)):
            for address in addresses:
                with answered(owner, method, address) as response:
                    assert response.status_code in (200, 303)
    assert len(scans.asked) > 100


def test_the_way_of_a_request(scans: Scans) -> None:
    backend = api_client()
    document_id = backend.document()
    have_all_tables_seem_large()
    with scans.watched():
        backend.document()
        created = backend.create(payload(document_id, **MAILED)).json()
        for signer in created["signers"]:
            signed(signer["signing_url"])
            assert work_off()
        publish_events()
        read_all(backend, created["id"], created["signers"][0]["id"])
    assert len(scans.asked) > 60


def test_what_workers_ask(scans: Scans) -> None:
    made, _ = told()
    record(made.request, "request.expired")
    have_all_tables_seem_large()
    with scans.watched():
        polls()
        for task in app.periodic_registry.periodic_tasks.values():
            task.task.func(timestamp=0)
        do_what_is_due(0)
        for result in (REFUSED, ACCEPTED):
            answer_all(result, clock.now())
        for check in CHECKS:
            if check.name in CHECKED:
                check.outcomes()
        assert Client().get("/metrics").status_code == 200


def test_scans_are_found() -> None:
    """Scans by plain statements, prepared ones and functions."""
    have_all_tables_seem_large()
    scans = Scans()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION calls(text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN"
            " RETURN (SELECT count(*) FROM journal_entry WHERE user_agent = $1); END $$"
        )
    with scans.watched(), connection.cursor() as cursor:
        cursor.execute("SELECT FROM signature_requests_signer WHERE last_name = %s", ["Lovelace"])
        cursor.execute("SELECT calls('')")
        one_row("SELECT count(*) FROM webhooks_delivery WHERE payload = %s", [""])
        cursor.execute("SELECT FROM signature_requests_signer WHERE id = 1")
    tables = [{"signature_requests_signer"}, {"journal_entry"}, {"webhooks_delivery"}]
    assert list(scans.found.values()) == tables


def signed(url: str) -> None:
    path = "/sign/" + url.rpartition("/")[2]
    person = Client()
    assert person.get(path).status_code == 200
    code = person.post(f"{path}/otp", {"channel": "email"}, content_type="application/json").json()["sandbox_code"]
    body = {"code": code, "consent": True}
    assert person.post(f"{path}/signature", body, content_type="application/json").status_code == 200
    assert person.get(f"{path}/progress").status_code == 200


def publish_events() -> None:
    """Publish events as the end of a transaction does."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS event_published IMMEDIATE")


def read_all(backend: ApiClient, request_id: int, signer_id: int) -> None:
    days = {"created_after": "2026-01-01", "created_before": "2100-01-01"}
    for path in ("/signature_requests", "/documents", "/branding_profiles"):
        for query in ({}, {"order": "desc"}, {"page": 2}, days):
            assert backend.get(path, **query).status_code in (200, 422)
    first = backend.get("/events", limit=1).json()
    assert first["has_more"]
    for query in ({"after": first["next"]}, {"after": "latest"}, {"event": "signer.signed"},
                  {"signature_request_id": request_id}):  # fmt: skip
        assert backend.get("/events", **query).status_code == 200
    acts = f"/sandbox/signature_requests/{request_id}"
    for path in (f"{acts}/expire", f"{acts}/signers/{signer_id}/sign"):
        assert backend.send("POST", path).status_code == 409  # the request is over
    for path in (f"/signature_requests/{request_id}", f"/signature_requests/{request_id}/audit_logs"):
        assert backend.get(path).status_code == 200


def polls() -> None:
    """Ask what workers ask every few seconds, whether there is anything to do or not."""
    jobs: Any = app.job_manager
    worker = async_to_sync(jobs.register_worker)()
    for queue in QUEUES:
        async_to_sync(jobs.fetch_job)([queue], worker)
        async_to_sync(jobs.list_jobs_to_abort_async)(queue)
    async_to_sync(jobs.update_heartbeat)(worker)
    async_to_sync(jobs.prune_stalled_workers)(120)
    expire_due(lambda: False)
    rescue_jobs(give_up)
    forget_old_jobs()
