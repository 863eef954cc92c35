"""Copies of requests that were really made: rows by SQL, objects as hard links.

Each copy has ids, tokens, addresses, words to be found by, and digests of its journal of its own, an age, and an
organization, so that tables, TOAST and indexes are as large as if the requests had been made, over a year. What a copy
shares with the request that was made: texts of the journal, files and their digests. Its journal does not follow from
itself, its handwriting, which is encrypted for another signer, cannot be opened, and its events and webhooks are only
there as long as the service keeps them.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, models

from benchmarks.sizes import KEPT_DAYS

_SIGNERS = "(SELECT id FROM signature_requests_signer WHERE request_id IN (SELECT id FROM chosen))"
_LISTED = "(SELECT id FROM signature_requests_requestdocument WHERE request_id IN (SELECT id FROM chosen))"
_UPLOADS = "(SELECT document_id FROM signature_requests_requestdocument WHERE request_id IN (SELECT id FROM chosen))"
_TOLD = "(SELECT id FROM webhooks_delivery WHERE request_id IN (SELECT id FROM chosen))"
_OF_REQUEST = "request_id IN (SELECT id FROM chosen)"
OF_REQUESTS = {
    "documents_document": f"id IN {_UPLOADS}",
    "drafts_documenttags": f"document_id IN {_UPLOADS}",
    "signature_requests_signaturerequest": "id IN (SELECT id FROM chosen)",
    "signature_requests_signer": _OF_REQUEST,
    "signature_requests_requestdocument": _OF_REQUEST,
    "signature_requests_placement": f"signer_id IN {_SIGNERS}",
    "signature_requests_firstopening": f"signer_id IN {_SIGNERS}",
    "signature_requests_sendermail": _OF_REQUEST,
    "otp_onetimecode": f"signer_id IN {_SIGNERS}",
    "journal_entry": _OF_REQUEST,
    "evidence_sealeddocument": f"request_document_id IN {_LISTED}",
    "evidence_prooffile": _OF_REQUEST,
    "webhooks_event": _OF_REQUEST,
    "webhooks_delivery": _OF_REQUEST,
    "webhooks_attempt": f"delivery_id IN {_TOLD}",
}
"""Tables with rows of a request, in the order in which they are filled, and which rows are of ``chosen`` requests."""

_WORDS = """
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT organization_id, environment, signature_requests_words_of_request(id), id
    FROM signature_requests_signaturerequest WHERE id < %s
"""
_COUNTS = """
    DELETE FROM organizations_tally;
    INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
    SELECT organization_id, environment, 'documents', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
    FROM documents_document GROUP BY 1, 2, 4, 5;
    INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
    SELECT organization_id, environment, 'signature_requests', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
    FROM signature_requests_signaturerequest GROUP BY 1, 2, 4, 5;
    DELETE FROM organizations_storage;
    INSERT INTO organizations_storage (organization_id, environment, bytes)
    SELECT organization_id, environment, sum(size) FROM (
        SELECT organization_id, environment, file_size + coalesce(prepared_size, 0) AS size FROM documents_document
        UNION ALL SELECT organization_id, environment, file_size FROM evidence_prooffile
        JOIN signature_requests_signaturerequest request ON request.id = request_id
        UNION ALL SELECT organization_id, environment, file_size FROM evidence_sealeddocument
        JOIN signature_requests_requestdocument listed ON listed.id = request_document_id
        JOIN signature_requests_signaturerequest request ON request.id = listed.request_id
    ) AS file GROUP BY 1, 2;
    DELETE FROM webhooks_eventstream;
    INSERT INTO webhooks_eventstream (organization_id, environment, position, published_at)
    SELECT organization_id, environment, max(position), max(published_at) FROM webhooks_event GROUP BY 1, 2
"""


@dataclass(frozen=True)
class Copy:
    """The ``number``-th copy, for production of that organization and its application, ``age`` days older than what it
    copies."""

    number: int
    organization: int
    application: int
    age: float


def leave_room(copies: int, span: int) -> None:
    """Have what is made from now on get ids above those of so many copies, each with ``span`` ids in each table. A copy
    is older than what it copies, so its ids are lower."""
    with connection.cursor() as cursor:
        for model in _models():
            if isinstance(model._meta.pk, models.AutoField):
                cursor.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [model._meta.db_table, (copies + 1) * span]
                )


def copy(copies: Iterable[Copy], requests: Iterable[int], span: int, objects: Path) -> None:
    """Copy these requests, in a session of a server without traffic."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("CREATE TEMP TABLE chosen AS SELECT unnest(%s::bigint[]) AS id", [list(requests)])
        for table, condition in OF_REQUESTS.items():
            cursor.execute(f"CREATE TEMP TABLE made_{table} AS SELECT * FROM {table} WHERE {condition}")
        statements = [(model._meta.db_table, _copying(model)) for model in _models()]
        keys = list(_keys(cursor))
        for each in sorted(copies, key=lambda each: each.number, reverse=True):  # the oldest first
            values = vars(each) | {"shift": each.number * span}
            for table, statement in statements:
                if each.age < KEPT_DAYS.get(table, each.age + 1):
                    cursor.execute(statement, values)
            for key in keys:
                _link(objects, key, each.number)
        cursor.execute("DROP TABLE chosen, " + ", ".join(f"made_{table}" for table in OF_REQUESTS))


def count_all(first_made: int) -> None:
    """Write what triggers keep of rows: the words of all below the first id that was made, and counts."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(_WORDS, [first_made])
        cursor.execute(_COUNTS)
        cursor.execute("RESET session_replication_role")


def _models() -> list[Any]:
    by_table = {model._meta.db_table: model for model in apps.get_models()}
    return [by_table[table] for table in OF_REQUESTS]


def _copying(model: Any) -> str:
    table, fields = model._meta.db_table, model._meta.concrete_fields
    columns = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join(_anew(field) for field in fields)
    return f"INSERT INTO {table} ({columns}) SELECT {values} FROM made_{table} AS made"


def _anew(field: Any) -> str:
    """What a copy has in the column."""
    name = f'made."{field.column}"'
    related = field.remote_field.model._meta.db_table if field.remote_field else ""
    special = {
        "organization_id": "%(organization)s",
        "environment": "'production'",
        "application_id": f"{name} - {name} + %(application)s",  # null stays
        "position": f"{name} - %(shift)s" if field.model._meta.db_table == "webhooks_event" else name,
        "object_key": _key(name, "%(number)s"),
        "email": f"replace({name}, '@', '-' || %(number)s || '@')",
        "timestamp_due_at": name,
        "sha256": name,
        "prepared_sha256": name,
        "name": f"{name} || '-' || %(number)s" if field.primary_key else name,
    }
    if field.column in special:
        return special[field.column]
    if related in OF_REQUESTS or (field.primary_key and isinstance(field, models.AutoField)):
        return f"{name} - %(shift)s"
    if isinstance(field, models.UUIDField):
        return f"CASE WHEN {name} IS NULL THEN NULL ELSE gen_random_uuid() END"
    if isinstance(field, models.DateTimeField):
        return f"{name} - %(age)s * interval '1 day'"
    if isinstance(field, models.BinaryField) and not str(field.column).endswith("encrypted"):
        digest = f"sha256({name} || int8send(%(number)s))"
        return (
            f"CASE WHEN {name} = decode(repeat('00', 32), 'hex') THEN {name} "
            f"ELSE substring({digest} for length({name})) END"
        )
    return name


def _key(name: str, number: str) -> str:
    """The SQL of an object's key with the copy's number in it, as long as it was."""
    return (
        f"regexp_replace(left({name}, -10) || lpad(to_hex({number}::int), 6, '0') || right({name}, 4), "
        f"'/[0-9]+/', '/c' || {number} || '/')"
    )


def _keys(cursor: Any) -> Iterator[str]:
    for table in ("documents_document", "evidence_sealeddocument", "evidence_prooffile"):
        cursor.execute(f"SELECT object_key FROM made_{table}")
        yield from (key for (key,) in cursor.fetchall())


def _link(objects: Path, key: str, number: int) -> None:
    """Link the object of the copy, and what was prepared of it, to that of the request."""
    *folder, name = key.split("/")
    changed = f"{name[:-10]}{number:06x}{name[-4:]}"
    for first in (folder[0], "prepared") if folder[0] == "documents" else folder[:1]:
        old = objects.joinpath(first, *folder[1:], name)
        new = objects.joinpath(first, *(f"c{number}" for _ in folder[1:]), changed)
        if first != "prepared" or old.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            os.link(old, new)
