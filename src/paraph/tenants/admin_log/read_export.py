"""Exports of an activity log, read without the service, its database or Django, and never whole in memory.

An export is the text that :mod:`paraph.tenants.admin_log.export` writes, byte for byte. So nothing that somebody sees
in it can be changed: entries are bound by the chain of hashes, the head by the last entry, which is the export
itself, and all else has one form. None is a PDF at the same time, to any reader: the keyword with which every object
of a PDF begins is written otherwise.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any, BinaryIO

from paraph.kernel import bounded_json
from paraph.tenants.admin_log.chain import GENESIS, ChainCheck, check_entries

FORMAT = "paraph-activity/1"
START = 200
"""Bytes of a file that tell whether it is an export."""
BEFORE_ENTRIES = ', "entries": ['
HEAD = ("format", "organization_id", "organization", "at")
_EXPORTED = "activity.exported"
_ENTRY = (
    *("organization_id", "position", "actor_kind", "actor_id", "actor", "ip", "action", "subject"),
    *("before", "after", "created_at", "previous_hash", "hash"),
)
_LONGEST_LINE = 1 << 20
_MOST_PARTS = 10_000  # of a line
_NO_EXPORT = "This is no export of an activity log."


class NotAsWritten(ValueError):
    """The text is not one that an export writes; the message says where."""


def is_export(beginning: bytes) -> bool:
    """Return whether a file that begins so is meant to be an export."""
    return beginning.lstrip().startswith(b"{") and FORMAT.encode() in beginning[:START]


def check_export(export: bytes | BinaryIO) -> ChainCheck:
    """Check an export: that no entry is missing, and nothing in it was altered."""
    file = BytesIO(export) if isinstance(export, bytes) else export
    try:
        head = _head(file)
    except (NotAsWritten, ValueError):
        return ChainCheck(None, 0, GENESIS.hex(), _NO_EXPORT)
    told = _Told()
    try:
        check = check_entries(_entries(file, told), head["organization_id"])
    except NotAsWritten as error:
        return ChainCheck(head["organization_id"], told.entries, told.head, str(error))
    return replace(check, problem=_problem_of(head, told)) if check.ok else check


@dataclass
class _Told:
    """What was read of the entries: how many, the hash of the last and the last itself."""

    entries: int = 0
    head: str = GENESIS.hex()
    last: Mapping[str, Any] = field(default_factory=dict)


def _head(file: BinaryIO) -> dict[str, Any]:
    """Read the first line: the head, and the beginning of the list of entries."""
    line = _line(file)
    beginning, found, rest = line.rpartition(BEFORE_ENTRIES.encode())
    head = bounded_json.loads(beginning + b"}", _MOST_PARTS)
    if not found or rest or not isinstance(head, dict) or tuple(head) != HEAD or written(head) != beginning + b"}":
        raise NotAsWritten(_NO_EXPORT)
    if [type(value) for value in head.values()] != [str, int, str, str] or head["format"] != FORMAT:
        raise NotAsWritten(_NO_EXPORT)
    return head


def _entries(file: BinaryIO, told: _Told) -> Iterator[dict[str, Any]]:
    """Yield the entries, each of which is checked before the next one is asked for, and note what they tell."""
    line = _line(file)
    while line != b"]}":
        text = line.removesuffix(b",")
        entry = _entry(text, told.entries + 1)
        yield entry
        told.entries, told.head, told.last = told.entries + 1, entry["hash"], entry
        is_last, line = text == line, _line(file)
        if is_last != (line == b"]}"):
            raise NotAsWritten(f"Something else stands behind entry {told.entries}.")
    if file.read(1):
        raise NotAsWritten("Something was added behind its end.")


def _entry(text: bytes, position: int) -> dict[str, Any]:
    try:
        entry = bounded_json.loads(text, _MOST_PARTS)
        if isinstance(entry, dict) and _is_entry(entry) and written(entry) == text:
            return entry
    except ValueError:
        pass
    raise NotAsWritten(f"Entry {position} was altered.")


def _is_entry(entry: dict[str, Any]) -> bool:
    if tuple(entry) != _ENTRY or not all(
        isinstance(entry[name], str) for name in ("action", "subject", "created_at", "hash")
    ):
        return False
    return all(isinstance(entry[name], dict) and _is_ordered(entry[name]) for name in ("before", "after"))


def _is_ordered(value: Any) -> bool:
    """Return whether all keys have the order in which PostgreSQL keeps them."""
    if isinstance(value, dict):
        keys = [(len(key.encode()), key.encode()) for key in value]
        return keys == sorted(keys) and all(map(_is_ordered, value.values()))
    return not isinstance(value, list) or all(map(_is_ordered, value))


def _line(file: BinaryIO) -> bytes:
    line = file.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise NotAsWritten("Its end is missing.")
    return line[:-1]


def written(value: dict[str, Any]) -> bytes:
    """Return the value as exports write it; text that is no Unicode raises ``ValueError``."""
    return json.dumps(value, ensure_ascii=False).replace("obj", "\\u006fbj").encode()


def _problem_of(head: dict[str, Any], told: _Told) -> str:
    """Return what is wrong with an export whose entries follow from each other, "" for nothing."""
    if not told.last or told.last["action"] != _EXPORTED:
        return "The entry of the export itself is missing: entries were cut off its end."
    if (told.last["subject"], told.last["created_at"][:19] + "Z") != (head["organization"], head["at"]):
        return "Its head is not that of its last entry, which is the export itself."
    return ""
