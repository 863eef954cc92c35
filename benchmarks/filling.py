"""Requests by the million, written inside PostgreSQL: a document, a signer and words of each, if wanted its journal,
seal and proof, and retries that wait.

Without triggers: counted row by row, a million rows of one transaction would be a million versions of a few rows; what
they keep is written here. Indexes are dropped before and made afterwards, which takes a fraction of the time.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from paraph.postgres import Server
from paraph.postgres import server as embedded

# Of requests in a row, ten are of one organization: what depends on their number is alike in all.
_OF = "({organizations})[1 + n / 10 % {many}], '{environment}'"
_MADE = "date_trunc('second', now() - interval '365 days' * (1 - n / {count}.0))"
_EACH = "FROM generate_series(1::bigint, {count}) AS n"
_NAME, _MAIL = "'lovelace' || n % 997", "'ada' || {base} + n || '@example.com'"
_REQUESTS = f"""
INSERT INTO documents_document (
    id, organization_id, environment, name, sha256, file_size, pages, preflight, status, object_key, created_at
) SELECT {{base}} + n, {_OF}, 'contract.pdf', '\\x00', 1000, '[[595, 842]]', '{{{{}}}}',
    CASE WHEN n % 47 = 0 THEN 'pending' ELSE 'ready' END, 'bench/' || {{base}} + n, {_MADE} {_EACH};
INSERT INTO signature_requests_signaturerequest (
    id, organization_id, environment, application_id, mode, status, finalized, validity_days, send_email,
    initials_required, notify_signers_on_completion, callback_url, locale, created_at, expires_at, completed_at
) SELECT {{base}} + n, {_OF}, ({{applications}})[1 + n / 10 % {{many}}], 'parallel',
    CASE n % 10 WHEN 0 THEN 'pending' WHEN 1 THEN 'expired' ELSE 'completed' END,
    n % 10 > 1, 30, false, false, false, '', 'en', {_MADE},
    {_MADE} + interval '1 day' * CASE n % 10 WHEN 0 THEN 400 ELSE 30 END,
    CASE WHEN n % 10 > 1 THEN {_MADE} + interval '1 hour' END {_EACH};
INSERT INTO signature_requests_signer (
    id, request_id, first_name, last_name, email, phone, "order", otp_channel, status, token_salt, locale, notified_at,
    signed_at, completion_notified_at
) SELECT {{base}} + n, {{base}} + n, 'Ada', initcap({_NAME}), {_MAIL}, '', 1, '',
    CASE WHEN n % 10 > 1 THEN 'signed' ELSE 'notified' END, '\\x00', '', {_MADE},
    CASE WHEN n % 10 > 1 THEN {_MADE} + interval '1 hour' END,
    CASE WHEN n % 10 > 1 THEN {_MADE} + interval '2 hours' END {_EACH};
INSERT INTO signature_requests_requestdocument (id, request_id, document_id, position)
SELECT {{base}} + n, {{base}} + n, {{base}} + n, 0 {_EACH};
INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
SELECT {_OF}, word, {{base}} + n {_EACH},
    LATERAL (VALUES ('ada'), ({_NAME}), ({_MAIL}), ('example.com'), ('contract')) AS words (word);
INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
SELECT organization_id, environment, 'documents', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
FROM documents_document WHERE id > {{base}} GROUP BY 1, 2, 4, 5;
INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
SELECT organization_id, environment, 'signature_requests', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
FROM signature_requests_signaturerequest WHERE id > {{base}} GROUP BY 1, 2, 4, 5;
INSERT INTO organizations_storage (organization_id, environment, bytes)
SELECT organization_id, environment, sum(file_size) FROM documents_document WHERE id > {{base}} GROUP BY 1, 2;
"""
_SHARED = "(SELECT max(id) FROM evidence_sharedcontent)"
_EVIDENCE = f"""
INSERT INTO journal_entry (organization_id, environment, request_id, position, event_type, ip, user_agent, metadata,
    created_at, hash, format, salts)
SELECT {_OF}, {{base}} + n, position, 'signer.viewed', '192.0.2.1', 'Mozilla/5.0', '{{{{}}}}', {_MADE},
    sha256(int8send(n * 100 + position)), 2,
    jsonb_build_object('ip', repeat('0', 32), 'user_agent', repeat('0', 32))
{_EACH}, generate_series(1, {{entries}}) AS position;
INSERT INTO evidence_sharedcontent (sha256, content)
VALUES ('\\x00', '{{{{"facts": {{{{}}}}, "certificates": {{{{}}}}}}}}') ON CONFLICT DO NOTHING;
INSERT INTO evidence_sealeddocument (request_document_id, object_key, sha256, file_size, seal, shared_id,
    created_at)
SELECT {{base}} + n, 'bench/sealed/' || {{base}} + n, '\\x00', 1000, '{{{{}}}}', {_SHARED}, {_MADE}
{_EACH} WHERE n % 10 > 1;
INSERT INTO evidence_prooffile (request_id, object_key, sha256, file_size, seal, shared_id, created_at)
SELECT {{base}} + n, 'bench/proof/' || {{base}} + n, '\\x00', 1000, '{{{{}}}}', {_SHARED}, {_MADE}
{_EACH} WHERE n % 10 > 1;
UPDATE organizations_storage AS storage SET bytes = bytes + 2000 * (
    SELECT count(*) FROM signature_requests_signaturerequest AS request
    WHERE request.organization_id = storage.organization_id AND request.id > {{base}} AND finalized
) WHERE organization_id = ANY({{organizations}});
"""
_RETRIES = """
INSERT INTO webhooks_delivery (application_id, request_id, destination, url, endpoint, event_type, occurred_at, payload,
    status, failures, due_at)
SELECT application, {base} + 1, 'application', 'https://hooks.example/',
    application || ' https://hooks.example:443', 'request.expired', now(), '{{}}', 'waiting', 1,
    now() + interval '5 hours' + n * interval '1 ms'
FROM generate_series(1, {retries}) AS n, LATERAL (SELECT ({applications})[1 + n % {many}]) AS one (application);
INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, scheduled_at, attempts)
SELECT 'mail', 'paraph.flow.jobs.notify_completion', jsonb_build_object('request_id', n), 'todo',
    now() + interval '5 hours' + n * interval '1 ms', 1
FROM generate_series(1, {retries}) AS n;
"""
_NUMBERED = ("documents_document", "signature_requests_signaturerequest", "signature_requests_signer",
             "signature_requests_requestdocument")  # fmt: skip
_TABLES = (*_NUMBERED, "signature_requests_searchterm", "journal_entry", "evidence_sealeddocument",
           "evidence_prooffile", "webhooks_delivery", "procrastinate_jobs")  # fmt: skip
# Keys that others refer to stay; all other constraints of uniqueness, and indexes of their own, go and come back.
_INDEXES = """
SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
    format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint AS own WHERE conrelid = ANY(%(tables)s::regclass[]) AND contype IN ('p', 'u') AND NOT EXISTS (
    SELECT FROM pg_constraint AS other WHERE other.contype = 'f' AND other.conindid = own.conindid)
UNION ALL
SELECT format('DROP INDEX %%s', indexrelid::regclass), pg_get_indexdef(indexrelid)
FROM pg_index WHERE indrelid = ANY(%(tables)s::regclass[])
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
"""


@dataclass(frozen=True)
class Crowd:
    """``count`` requests of the organizations, each by its application; with ``evidence``, ``entries`` of the journal,
    a seal and a proof each. ``retries``: as many webhooks and as many jobs wait for hours."""

    organizations: list[int]
    applications: list[int]
    count: int
    evidence: bool = False
    retries: int = 0
    entries: int = 10
    environment: str = "sandbox"


@contextmanager
def scratch_database() -> Iterator[None]:
    """A database of its own, gone afterwards. It is good for reads alone: nothing is kept if the machine fails."""
    with tempfile.TemporaryDirectory(prefix="paraph-bench-", ignore_cleanup_errors=True) as folder:
        try:
            with filling_server(Path(folder)):
                yield
        finally:  # as root, it lies behind a link
            shutil.rmtree((Path(folder) / "postgres").resolve(), ignore_errors=True)


@contextmanager
def filling_server(data_dir: Path) -> Iterator[None]:
    """The embedded PostgreSQL of a data folder, as fast as a database may be that can be filled again."""
    usual, size = embedded.tuning, {"max_wal_size": "16GB", "maintenance_work_mem": "1GB"}
    hasty = size | {"fsync": "off", "autovacuum": "off", "wal_level": "minimal", "max_wal_senders": "0"}
    server = Server(data_dir)
    with patch.object(embedded, "tuning", lambda *given: usual(*given) | hasty):
        server.start()
    try:
        os.environ |= {"PARAPH_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "paraph.config.settings"}
        yield
    finally:
        server.stop()


def new_crowd(name: str, organizations: int, count: int, **more: Any) -> tuple[Crowd, str]:
    """A crowd of so many new organizations, to be filled, and an API key of the first."""
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.applications import create_application
    from paraph.tenants.organizations import create_organization

    made = []
    for number in range(organizations):
        organization = create_organization(OPERATOR, f"{name} {number}", "pro")
        made.append(create_application(organization.pk, OPERATOR, environment="sandbox", name="bench"))
    ids = [each.application.organization_id for each in made], [each.application.pk for each in made]
    return Crowd(*ids, count, **more), made[0].api_key


def fill(*crowds: Crowd) -> None:
    """Writes the crowds into a database without traffic, and all that the service would have counted of them."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        with _without_indexes(cursor):
            for crowd in crowds:
                write(cursor, crowd)
        cursor.execute("RESET session_replication_role")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


@contextmanager
def _without_indexes(cursor: Any) -> Iterator[None]:
    cursor.execute(_INDEXES, {"tables": list(_TABLES)})
    indexes = cursor.fetchall()
    for drop, _make in indexes:
        cursor.execute(drop)
    yield
    for _drop, make in indexes:
        cursor.execute(make)


def write(cursor: Any, crowd: Crowd) -> None:
    """Writes the rows of a crowd, in a session without triggers. A request, its document and signer have one number,
    above all that there are: nothing is to be joined."""
    cursor.execute(f"SELECT greatest({', '.join(f'(SELECT max(id) FROM {table})' for table in _NUMBERED)}, 0)")
    base = cursor.fetchone()[0]
    statements = _REQUESTS + (_EVIDENCE if crowd.evidence else "") + (_RETRIES if crowd.retries else "")
    cursor.execute(
        statements.format(
            base=base,
            count=crowd.count,
            retries=crowd.retries,
            organizations=f"ARRAY{crowd.organizations}::bigint[]",
            applications=f"ARRAY{crowd.applications}::bigint[]",
            many=len(crowd.organizations),
            entries=crowd.entries,
            environment=crowd.environment,
        )
    )
    for table in _NUMBERED:
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {base + crowd.count})")
