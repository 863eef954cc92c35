"""Writing to the journal, and checking its chain."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paraph.database.prepared_statements import prepared_cursor
from paraph.journal.models import Entry
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest

GENESIS = bytes(32)
_END = "SELECT position, hash, created_at FROM journal_entry WHERE request_id = %s ORDER BY position DESC LIMIT 1"


@dataclass(frozen=True)
class Origin:
    """Where an act came from. Empty for what the service does by itself."""

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
    """The next entry of the request's chain, for the caller to insert. ``moment``: when it happened, by default now.

    The caller holds the request's row lock (or has just created it), so that the chain has one writer;
    the unique position refuses a second one all the same. ``metadata`` must be plain JSON.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_END, [request.pk])
        position, previous, earlier = cursor.fetchone() or (0, GENESIS, None)
    moment = moment or clock.now()
    entry = _entry(request, event_type, signer_id, origin, metadata or {})
    _chain(entry, position + 1, bytes(previous), max(moment, earlier) if earlier else moment)
    return entry


def begin(request: SignatureRequest, events: list[tuple[str, dict[str, Any]]], origin: Origin) -> list[Entry]:
    """The first entries of a request that is being created, each with its metadata, for the caller to insert."""
    entries, previous, moment = list[Entry](), GENESIS, clock.now()
    for position, (event_type, metadata) in enumerate(events, start=1):
        entry = _entry(request, event_type, None, origin, metadata)
        _chain(entry, position, previous, moment)
        entries.append(entry)
        previous = bytes(entry.hash)
    return entries


def _entry(
    request: SignatureRequest, event_type: str, signer_id: int | None, origin: Origin, metadata: dict[str, Any]
) -> Entry:
    return Entry(
        organization_id=request.organization_id,
        environment=request.environment,
        request=request,
        event_type=event_type,
        signer_id=signer_id,
        ip=origin.ip,
        user_agent=origin.user_agent[:500],
        metadata=metadata,
    )


def _chain(entry: Entry, position: int, previous: bytes, moment: datetime) -> None:
    """Puts the entry behind the one with the hash ``previous``. ``moment`` is never before that one's: a clock set
    back must not reorder a journal."""
    entry.position, entry.previous_hash, entry.created_at = position, previous, moment
    entry.hash = entry_hash(entry)


def entry_hash(entry: Entry) -> bytes:
    """SHA-256 over the canonical JSON of :func:`facts`: keys sorted, no white space, UTF-8."""
    text = json.dumps(facts(entry), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def facts(entry: Entry) -> dict[str, Any]:
    """What the hash covers, as the proof's evidence repeats it."""
    return {
        "request_id": entry.request_id,
        "position": entry.position,
        "event_type": entry.event_type,
        "signer_id": entry.signer_id,
        "ip": entry.ip,
        "user_agent": entry.user_agent,
        "metadata": entry.metadata,
        "created_at": clock.iso_milliseconds(entry.created_at),
        "previous_hash": bytes(entry.previous_hash).hex(),
    }


def broken_at(entries: Iterable[Entry]) -> int | None:
    """The position of the first entry that does not follow from those before it, None when all do."""
    previous = GENESIS
    for expected, entry in enumerate(entries, start=1):
        if (
            entry.position != expected
            or bytes(entry.previous_hash) != previous
            or entry_hash(entry) != bytes(entry.hash)
        ):
            return expected
        previous = bytes(entry.hash)
    return None
