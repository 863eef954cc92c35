"""The rows of one creation, one statement for each table, with values that cost nothing to find."""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any

_DOCUMENT = "SELECT id, organization_id FROM documents_document LIMIT 1"
_APPLICATION = "SELECT id FROM organizations_application LIMIT 1"

_REQUEST = """
INSERT INTO signature_requests_signaturerequest (
    organization_id, environment, application_id, mode, status, finalized, validity_days, send_email,
    initials_required, notify_signers_on_completion, callback_url, locale, created_at, expires_at
) VALUES (%s, 'sandbox', %s, 'sequential', 'pending', false, 30, true, false, false, '', 'en', %s, %s) RETURNING id
"""
_SIGNERS = """
INSERT INTO signature_requests_signer
    (request_id, first_name, last_name, email, phone, "order", otp_channel, status, token_salt, locale)
VALUES (%s, 'Ada', 'Lovelace', 'ada@example.com', '', 1, '', 'pending', %s, ''),
       (%s, 'Grace', 'Hopper', 'grace@example.com', '', 2, '', 'pending', %s, '') RETURNING id
"""
_DOCUMENTS = """
INSERT INTO signature_requests_requestdocument (request_id, document_id, position) VALUES (%s, %s, 0) RETURNING id
"""
_PLACEMENTS = """
INSERT INTO signature_requests_placement (request_document_id, signer_id, page_number, x, y, width, height)
VALUES (%s, %s, 3, 100, 100, 200, 80), (%s, %s, 2, 100, 100, 200, 80)
"""
_ENTRIES = """
INSERT INTO journal_entry (
    organization_id, environment, request_id, position, event_type, ip, user_agent, metadata, created_at, hash
) VALUES (%s, 'sandbox', %s, 1, 'signature_request.created', '127.0.0.1', '', %s, %s, %s),
         (%s, 'sandbox', %s, 2, 'signature_request.identity_declared', '127.0.0.1', '', '{}', %s, %s)
"""
_JOB = "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES ('default', 'paraph.flow.jobs.invite', %s)"

_known: list[tuple[int, int, int]] = []


def insert(cursor: Any) -> None:
    """Request, signers, document, placements, journal entries and job: six statements."""
    document, organization, application = _ids(cursor)
    now, digest = datetime.now(UTC), os.urandom(32)
    cursor.execute(_REQUEST, [organization, application, now, now + timedelta(days=30)])
    [request] = cursor.fetchone()
    cursor.execute(_SIGNERS, [request, os.urandom(16), request, os.urandom(16)])
    [[first], [second]] = cursor.fetchall()
    cursor.execute(_DOCUMENTS, [request, document])
    [request_document] = cursor.fetchone()
    cursor.execute(_PLACEMENTS, [request_document, first, request_document, second])
    metadata = json.dumps({"mode": "sequential", "signers_count": 2, "documents_count": 1})
    entry = [organization, request]
    cursor.execute(_ENTRIES, [*entry, metadata, now, digest, *entry, now, digest])
    cursor.execute(_JOB, [json.dumps({"signer_id": first})])


def _ids(cursor: Any) -> tuple[int, int, int]:
    if not _known:
        cursor.execute(_DOCUMENT)
        document, organization = cursor.fetchone()
        cursor.execute(_APPLICATION)
        _known.append((document, organization, cursor.fetchone()[0]))
    return _known[0]
