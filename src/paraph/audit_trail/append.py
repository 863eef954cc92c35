"""Appending to the journal of a request, and checking its chain of hashes."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from paraph.audit_trail.commitments import committed, salts_for
from paraph.audit_trail.models import Entry, EventType, SharedFacts
from paraph.database.kept_once import kept_once
from paraph.database.planned import one_row
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest

GENESIS = bytes(32)
PLAIN, COMMITTED = 1, 2  # formats of entries
_ALIKE = (
    *("consent_notice", "kms_key_id", "level", "method", "signing_algorithm", "timestamp_authority"),
    *("timestamp_policy_oid", "timestamped"),
)
"""Keys of the metadata whose values very many entries have alike. None of them is personal."""
_NEXT = """
    SELECT nextval(pg_get_serial_sequence('journal_entry', 'id')), coalesce(newest.position, 0) + 1, newest.hash,
        greatest(newest.created_at, %s::timestamptz)
    FROM (SELECT) AS one LEFT JOIN LATERAL (
        SELECT position, hash, created_at FROM journal_entry WHERE request_id = %s ORDER BY position DESC LIMIT 1
    ) AS newest ON true
"""


class Origin(NamedTuple):
    """The client that caused an event. Both fields are empty where the service acts by itself."""

    ip: str = ""
    user_agent: str = ""


SERVICE = Origin()


def follow(
    request: SignatureRequest,
    event_type: str,
    *,
    signer_id: int | None = None,
    origin: Origin = SERVICE,
    metadata: dict[str, Any] | None = None,
    moment: datetime | None = None,
) -> Entry:
    """Return the next entry of the request's chain, with its id, for the caller to insert. ``moment`` is that of the
    event, by default now; ``metadata`` must be plain JSON.

    The caller holds the request's row lock (or has just created the request), so that the chain has one writer. A
    second writer would violate the unique position.
    """
    row: Any = one_row(_NEXT, [moment or clock.now(), request.pk])  # there is one in any case
    entry_id, position, previous, moment = row
    entry = _entry(request, event_type, signer_id, origin, metadata or {})
    entry.pk = entry_id
    return _chained(entry, position, bytes(previous or GENESIS), moment)


def begin(request: SignatureRequest, events: list[tuple[EventType, dict[str, Any]]], origin: Origin) -> list[Entry]:
    """Return the first entries of a new request, one for each event and its metadata, for the caller to insert."""
    entries, previous, moment = list[Entry](), GENESIS, clock.now()
    for position, (event_type, metadata) in enumerate(events, start=1):
        entries.append(_chained(_entry(request, event_type, None, origin, metadata), position, previous, moment))
        previous = bytes(entries[-1].hash)
    return entries


def _entry(
    request: SignatureRequest, event_type: str, signer_id: int | None, origin: Origin, metadata: dict[str, Any]
) -> Entry:
    user_agent = origin.user_agent[:500]
    salts = salts_for(origin.ip, user_agent, metadata)
    alike = {name: metadata[name] for name in _ALIKE if name in metadata}
    shared = SharedFacts(pk=kept_once(SharedFacts, alike), content=alike) if alike else None
    return Entry(
        organization_id=request.organization_id,
        environment=request.environment,
        request=request,
        event_type=event_type,
        signer_id=signer_id,
        ip=origin.ip,
        user_agent=user_agent,
        metadata={name: fact for name, fact in metadata.items() if name not in alike},
        shared=shared,
        format=COMMITTED if salts else PLAIN,
        salts=salts,
    )


def _chained(entry: Entry, position: int, previous: bytes, moment: datetime) -> Entry:
    """Chain the entry to the one with the hash ``previous``. ``moment`` must not be before that one's, so that a clock
    set back does not reorder the journal."""
    entry.position, entry.created_at = position, moment
    entry.hash = entry_hash(entry, previous)
    return entry


def entry_hash(entry: Entry, previous: bytes) -> bytes:
    """Return the SHA-256 of :func:`facts` as canonical JSON: keys sorted, no white space, UTF-8; with commitments in
    the place of personal values where the format says so."""
    plain = facts(entry, previous)
    stated = committed(plain, entry.salts) if entry.format == COMMITTED else plain
    text = json.dumps(stated, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def facts(entry: Entry, previous: bytes | memoryview) -> dict[str, Any]:
    """Return the fields that the hash covers, with ``previous``, the hash of the entry before; evidence.json of the
    proof repeats them. That of format 1 is not stated, as it was not when there was no other."""
    return {
        **({"format": entry.format} if entry.format != PLAIN else {}),
        "request_id": entry.request_id,
        "position": entry.position,
        "event_type": entry.event_type,
        "signer_id": entry.signer_id,
        "ip": entry.ip,
        "user_agent": entry.user_agent,
        "metadata": entry.stated,
        "created_at": clock.iso_milliseconds(entry.created_at),
        "previous_hash": previous.hex(),
    }


def broken_at(entries: Iterable[Entry]) -> int | None:
    """Return the position of the first entry that does not follow from those before it, None if the chain holds."""
    previous = GENESIS
    for expected, entry in enumerate(entries, start=1):
        if entry.position != expected or entry_hash(entry, previous) != bytes(entry.hash):
            return expected
        previous = bytes(entry.hash)
    return None
