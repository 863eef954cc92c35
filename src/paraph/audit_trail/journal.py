"""Appending to the journal of a request, checking its chain of hashes, and erasing personal values from it, which keeps
the chain whole.

The hash of an entry covers a commitment in the place of each personal value: the SHA-256 of a random salt followed by
the value. Whoever has both can check the commitment; once both are deleted, nobody can find the value by trying
(docs/decisions/erasure.md).
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Any, NamedTuple

from paraph.audit_trail.models import Entry, EventType, SharedFacts
from paraph.database.base import one_row
from paraph.database.rows import kept_once
from paraph.kernel import clock, tokens
from paraph.signature_requests.models import SignatureRequest

GENESIS = bytes(32)
PLAIN, COMMITTED = 1, 2  # formats of entries
_ALIKE = (
    "consent_notice", "kms_key_id", "level", "method", "signing_algorithm", "timestamp_authority",
    "timestamp_policy_oid", "timestamped",
)  # fmt: skip
"""Keys of the metadata whose values are the same in very many entries. None of them is personal."""
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
    """Return the next entry of the request's chain, with its id, for the caller to insert. ``moment`` is when the event
    happened, by default now; ``metadata`` must be plain JSON. The caller holds the request's row lock (or has just
    created the request), so that the chain has one writer. A second writer would violate the unique position."""
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
    """Chain the entry to the one with the hash ``previous``. ``moment`` must not be earlier than in that entry, so that
    a clock set back does not reorder the journal."""
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
    proof repeats them. Format 1 is left out, as it was when it was the only one."""
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


PERSONAL = ("recipient", "recipients", "acknowledgement", "answer", "sent_by", "salt")
"""Keys of the metadata whose values are personal, besides ``ip`` and ``user_agent``. Each item of a list is
a value. ``salt`` is that of :func:`correction`: whoever has it can try values. The ``reason`` is personal where a
signer declined, but not where a sender ended the request, and so is the ``value`` of each of the ``fields`` that a
signer filled in."""

ENTERED = "metadata/fields/"  # what signers filled in

_SALT_BYTES = 16

Salts = dict[str, str]
"""By the path of each personal value: its salt or, once the value is erased, its commitment, in hexadecimal. They
differ in length."""


def salts_for(ip: str, user_agent: str, metadata: Mapping[str, Any]) -> Salts | None:
    """Return a fresh salt by the path of each personal value; None where there are no such values."""
    return {path: tokens.random_hex(_SALT_BYTES) for path in personal_values(ip, user_agent, metadata)} or None


def personal_values(ip: str, user_agent: str, metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the personal values that are not empty, by their paths, such as ``ip`` and ``metadata/recipients/0``."""
    found = {"ip": ip, "user_agent": user_agent}
    for key in (*PERSONAL, *(("reason",) if metadata.get("declined") else ())):
        value = metadata.get(key, "")
        each = {f"metadata/{key}/{n}": item for n, item in enumerate(value)} if isinstance(value, list) else None
        found |= each if each is not None else {f"metadata/{key}": value}
    found |= {f"{ENTERED}{n}/value": _text(each["value"]) for n, each in enumerate(metadata.get("fields", []))}
    return {path: value for path, value in found.items() if value}


def commitment(salt: str, value: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + value.encode()).hexdigest()


def correction(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata of a correction: the names of the ``corrected`` values and, by name, commitments to the
    values before and after, all with one salt. Whoever knows a value can check it, until the salt is erased."""
    salt = tokens.random_hex(_SALT_BYTES)
    before, after = ({name: commitment(salt, each[name]) for name in old} for each in (old, new))
    return {"corrected": list(old), "before": before, "after": after, "salt": salt}


def is_salt(known: str) -> bool:
    return len(known) == 2 * _SALT_BYTES


def committed(facts: dict[str, Any], salts: Salts) -> dict[str, Any]:
    """Return the facts of an entry with a commitment in the place of each personal value."""
    result = dict(facts)
    for path, known in salts.items():
        holder, last = _holder(result, path)
        holder[last] = commitment(known, _text(holder[last])) if is_salt(known) else known
    return result


def _holder(holder: Any, path: str) -> tuple[Any, Any]:
    """Follow the path from this dictionary, and copy each dictionary and list on the way. Return the last one, which
    holds the value, and the key or index of the value."""
    *way, last = path.split("/")
    for step in way:
        place: Any = int(step) if isinstance(holder, list) else step
        holder[place] = copy(holder[place])
        holder = holder[place]
    return holder, int(last) if isinstance(holder, list) else last


def _text(value: str | bool | None) -> str:
    """Return the value as text, as the database writes it: a Boolean as in JSON."""
    return str(value).lower() if isinstance(value, bool) else value or ""


_Ids = Collection[int] | Collection[int | None]
ERASED = "erased"


class EntryAbout(NamedTuple):
    """An entry, and the values in it that are about the signer, by path; none where they are erased already."""

    entry: Entry
    values: Mapping[str, str]


def entries_about(request_ids: _Ids, signer_ids: _Ids, addresses: Collection[str]) -> list[EntryAbout]:
    """Return entries of these requests: those of the signers and those without a signer about a mail to one of the
    addresses, both with all their personal values, and others that state one of the addresses, with that alone."""
    found = [_about(entry, signer_ids, addresses) for entry in Entry.objects.filter(request__in=request_ids)]
    return [each for each in found if each.values or each.entry.signer_id in signer_ids]


def values_in(request_ids: Collection[int], beginning: str = "") -> list[EntryAbout]:
    """Return, entry by entry, the personal values of these requests at paths that start with ``beginning``."""
    entries = Entry.objects.filter(request__in=request_ids).exclude(salts=None)
    found = (_about(entry, {entry.signer_id}, (), beginning) for entry in entries)
    return [each for each in found if each.values]


def erase_values(found: Sequence[EntryAbout], pseudonyms: Mapping[tuple[int, str], str]) -> int:
    """Replace these values; return how many entries changed. ``pseudonyms``: what takes the place of an address or
    number, by request and value; all other values become "erased", an IP address "". The commitment to each value takes
    the place of its salt, so that the chain still holds. The caller holds the row locks of the requests."""
    changed = [each for each in found if each.values]
    for entry, values in changed:
        for path, value in values.items():
            entry.salts = entry.salts | {path: commitment(entry.salts[path], value)}
            holder, last = _holder(vars(entry), path)
            holder[last] = "" if path == "ip" else pseudonyms.get((entry.request_id, value), ERASED)
    Entry.objects.bulk_update([each.entry for each in changed], ["ip", "user_agent", "metadata", "salts"])
    return len(changed)


def _about(entry: Entry, signer_ids: _Ids, addresses: Collection[str], beginning: str = "") -> EntryAbout:
    values = personal_values(entry.ip, entry.user_agent, entry.metadata)
    is_to_them = entry.signer_id is None and entry.metadata.get("recipient") in addresses
    is_theirs = entry.signer_id in signer_ids or is_to_them
    kept = {path: each for path, each in values.items() if is_salt(entry.salts[path]) and path.startswith(beginning)}
    return EntryAbout(entry, {path: value for path, value in kept.items() if is_theirs or value in addresses})
