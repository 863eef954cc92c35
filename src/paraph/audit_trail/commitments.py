"""Personal values of journal entries, which can be erased while the chain of hashes stays whole.

The hash of an entry covers a commitment in the place of each personal value: the SHA-256 of a random salt followed by
the value. Who has both can check it; once both are deleted, nobody can find the value by trying (docs/decisions/
erasure.md).
"""

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from paraph.kernel import tokens

PERSONAL = ("recipient", "recipients", "acknowledgement", "sent_by")
"""Keys of the metadata whose values are personal, besides ``ip`` and ``user_agent``. A list is one value each. So is
``reason`` where a signer declined; where a sender ended the request, it is not. So is the ``value`` of each of the
``fields`` that a signer filled in."""

_SALT_BYTES = 16

Salts = dict[str, dict[str, str]]
"""By the path of each personal value: ``{"salt": …}``, or ``{"commitment": …}`` once it is erased, in hexadecimal."""


def salts_for(ip: str, user_agent: str, metadata: Mapping[str, Any]) -> Salts | None:
    """Return a fresh salt for each personal value that is there, None where none is."""
    paths = personal_values(ip, user_agent, metadata)
    return {path: {"salt": tokens.random_bytes(_SALT_BYTES).hex()} for path in paths} or None


def personal_values(ip: str, user_agent: str, metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the personal values that are there by their paths, such as ``ip`` and ``metadata/recipients/0``."""
    found = {"ip": ip, "user_agent": user_agent}
    for key in (*PERSONAL, *(("reason",) if metadata.get("declined") else ())):
        value = metadata.get(key, "")
        each = {f"metadata/{key}/{n}": item for n, item in enumerate(value)} if isinstance(value, list) else None
        found |= each if each is not None else {f"metadata/{key}": value}
    found |= _entered(metadata.get("fields", []))
    return {path: value for path, value in found.items() if value}


def commitment(salt: str, value: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + value.encode()).hexdigest()


def committed(facts: dict[str, Any], salts: Salts) -> dict[str, Any]:
    """Return the facts of an entry with a commitment in the place of each personal value."""
    result = dict(facts)
    for path, known in salts.items():
        holder, last = _holder(result, path)
        holder[last] = known.get("commitment") or commitment(known["salt"], _text(holder[last]))
    return result


def _holder(facts: dict[str, Any], path: str) -> tuple[Any, Any]:
    """Return what holds the value of the path, copied with all that holds it, and the key or number of the value."""
    *way, last = path.split("/")
    holder: Any = facts
    for step in way:
        place: Any = int(step) if isinstance(holder, list) else step
        holder[place] = copy(holder[place])
        holder = holder[place]
    return holder, int(last) if isinstance(holder, list) else last


def _entered(fields: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {f"metadata/fields/{number}/value": _text(field["value"]) for number, field in enumerate(fields)}


def _text(value: str | bool | None) -> str:
    """Return the value as the database writes it as text: a truth value as JSON does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value or ""
