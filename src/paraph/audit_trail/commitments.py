"""Personal values of journal entries, which can be erased while the chain of hashes stays whole.

The hash of an entry covers a commitment in the place of each personal value: the SHA-256 of a random salt followed by
the value. Who has both can check it; once both are deleted, nobody can find the value by trying (docs/decisions/
erasure.md).
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from paraph.audit_trail.models import Entry
from paraph.kernel import tokens

PERSONAL = ("recipient", "recipients", "acknowledgement", "answer", "sent_by", "salt")
"""Keys of the metadata whose values are personal, besides ``ip`` and ``user_agent``. A list is one value each.
``salt`` is that of :func:`correction`: whoever has it can try values. So is
``reason`` where a signer declined; where a sender ended the request, it is not. So is the ``value`` of each of the
``fields`` that a signer filled in."""

ENTERED = "metadata/fields/"  # what signers filled in

_SALT_BYTES = 16

Salts = dict[str, str]
"""By the path of each personal value: its salt, or its commitment once it is erased, in hexadecimal. They differ in
their length."""


def salts_for(ip: str, user_agent: str, metadata: Mapping[str, Any]) -> Salts | None:
    """Return a fresh salt for each personal value that is there, None where none is."""
    return {path: tokens.random_hex(_SALT_BYTES) for path in personal_values(ip, user_agent, metadata)} or None


def personal_values(ip: str, user_agent: str, metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the personal values that are there by their paths, such as ``ip`` and ``metadata/recipients/0``."""
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
    """Return what the journal states of a correction: the names of what was ``corrected``, and by name commitments to
    the values before and after, with their one salt. Who knows a value can check it, until the salt is erased."""
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
    """Follow the path from this dictionary. Return what holds the value, copied with all that holds it below the
    dictionary, and the key or number of the value."""
    *way, last = path.split("/")
    for step in way:
        place: Any = int(step) if isinstance(holder, list) else step
        holder[place] = copy(holder[place])
        holder = holder[place]
    return holder, int(last) if isinstance(holder, list) else last


def _text(value: str | bool | None) -> str:
    """Return the value as the database writes it as text: a truth value as JSON does."""
    return str(value).lower() if isinstance(value, bool) else value or ""


_Ids = Collection[int] | Collection[int | None]
ERASED = "erased"


class EntryAbout(NamedTuple):
    """An entry, and the values in it that are about the signer, by path; none where they are erased already."""

    entry: Entry
    values: Mapping[str, str]


def entries_about(request_ids: _Ids, signer_ids: _Ids, addresses: Collection[str]) -> list[EntryAbout]:
    """Return, of these requests, the entries of the signers, with all their personal values, those of nobody who signs
    about a mail to one of the addresses, with all as well, and others in which one stands, with that alone."""
    found = [_about(entry, signer_ids, addresses) for entry in Entry.objects.filter(request__in=request_ids)]
    return [each for each in found if each.values or each.entry.signer_id in signer_ids]


def values_in(request_ids: Collection[int], beginning: str = "") -> list[EntryAbout]:
    """Return, of these requests, the entries with personal values whose paths begin so, and these values alone."""
    entries = Entry.objects.filter(request__in=request_ids).exclude(salts=None)
    found = (_about(entry, {entry.signer_id}, (), beginning) for entry in entries)
    return [each for each in found if each.values]


def erase_values(found: Sequence[EntryAbout], pseudonyms: Mapping[tuple[int, str], str]) -> int:
    """Replace these values; return in how many entries.

    ``pseudonyms``: by request and address or number, what takes its place; all other values become "erased". Each value
    goes with its salt and leaves its commitment, so that the chain still holds. The caller holds the row locks of the
    requests.
    """
    changed = [each for each in found if each.values]
    for each in changed:
        _erase(each.entry, each.values, pseudonyms)
    Entry.objects.bulk_update([each.entry for each in changed], ["ip", "user_agent", "metadata", "salts"])
    return len(changed)


def _about(entry: Entry, signer_ids: _Ids, addresses: Collection[str], beginning: str = "") -> EntryAbout:
    values = personal_values(entry.ip, entry.user_agent, entry.metadata)
    is_to_them = entry.signer_id is None and entry.metadata.get("recipient") in addresses
    is_theirs = entry.signer_id in signer_ids or is_to_them
    kept = {path: each for path, each in values.items() if is_salt(entry.salts[path]) and path.startswith(beginning)}
    return EntryAbout(entry, {path: value for path, value in kept.items() if is_theirs or value in addresses})


def _erase(entry: Entry, gone: Mapping[str, str], pseudonyms: Mapping[tuple[int, str], str]) -> None:
    for path, value in gone.items():
        entry.salts = entry.salts | {path: commitment(entry.salts[path], value)}
        holder, last = _holder(vars(entry), path)
        holder[last] = "" if path == "ip" else pseudonyms.get((entry.request_id, value), ERASED)
