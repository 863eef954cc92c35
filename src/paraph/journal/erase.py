"""Erasing the personal values of one signer from a journal."""

from collections.abc import Mapping

from paraph.journal.append import COMMITTED
from paraph.journal.commitments import commitment, personal_values
from paraph.journal.models import Entry

ERASED = "erased"


def erase_values(request_id: int, signer_id: int, pseudonyms: Mapping[str, str]) -> int:
    """Replaces personal values of the signer's entries, and the signer's addresses in all others; returns in how many
    entries.

    ``pseudonyms``: by address or number, what takes its place; all other values become "erased". Each value goes with
    its salt and leaves its commitment, so that the chain still holds. In entries of earlier versions, whose hash covers
    the values, it can then be checked by its links alone. The caller holds the request's row lock.
    """
    return sum(_erase(entry, signer_id, pseudonyms) for entry in Entry.objects.filter(request=request_id))


def _erase(entry: Entry, signer_id: int, pseudonyms: Mapping[str, str]) -> bool:
    values = personal_values(entry.ip, entry.user_agent, entry.metadata)
    of_signer = entry.signer_id == signer_id
    gone = {path: value for path, value in values.items() if of_signer or value in pseudonyms}
    known = entry.salts or {}
    if entry.format == COMMITTED:
        gone = {path: value for path, value in gone.items() if "salt" in known[path]}
    if not gone or (entry.format != COMMITTED and entry.salts == {}):
        return False
    if entry.format == COMMITTED:
        left = {path: {"commitment": commitment(known[path]["salt"], value)} for path, value in gone.items()}
        entry.salts = {**known, **left}
    else:
        entry.salts = {}
    for path, value in gone.items():
        _replace(entry, path, pseudonyms.get(value, ERASED))
    entry.save(update_fields=["ip", "user_agent", "metadata", "salts"])
    return True


def _replace(entry: Entry, path: str, pseudonym: str) -> None:
    match path.split("/"):
        case ["metadata", key, number]:
            entry.metadata[key][int(number)] = pseudonym
        case ["metadata", key]:
            entry.metadata[key] = pseudonym
        case ["ip"]:
            entry.ip = ""
        case _:
            entry.user_agent = pseudonym
