"""The personal values of one signer in a journal: found, and erased."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from paraph.audit_trail.commitments import commitment, personal_values
from paraph.audit_trail.models import Entry

ERASED = "erased"
_ENTERED = "metadata/fields/"


@dataclass(frozen=True)
class EntryAbout:
    """An entry, and the values in it that are about the signer, by path; none where they are erased already."""

    entry: Entry
    values: Mapping[str, str]


def entries_about(request_id: int, signer_id: int, addresses: Collection[str]) -> list[EntryAbout]:
    """Return the signer's entries, with all their personal values, and those entries of others in which one of the
    signer's addresses stands, with that alone."""
    found = [_about(entry, signer_id, addresses) for entry in Entry.objects.filter(request=request_id)]
    return [each for each in found if each.values or each.entry.signer_id == signer_id]


def entered_values(request_id: int) -> list[EntryAbout]:
    """Return the entries that state what signers filled in, with these values alone."""
    found = [_about(entry, entry.signer_id or 0, ()) for entry in Entry.objects.filter(request=request_id)]
    values = ({path: each.values[path] for path in each.values if path.startswith(_ENTERED)} for each in found)
    return [EntryAbout(each.entry, entered) for each, entered in zip(found, values, strict=True) if entered]


def erase_values(found: Sequence[EntryAbout], pseudonyms: Mapping[str, str]) -> int:
    """Replace these values; return in how many entries.

    ``pseudonyms``: by address or number, what takes its place; all other values become "erased". Each value goes with
    its salt and leaves its commitment, so that the chain still holds. The caller holds the request's row lock.
    """
    changed = [each for each in found if each.values]
    for each in changed:
        _erase(each.entry, each.values, pseudonyms)
    return len(changed)


def _about(entry: Entry, signer_id: int, addresses: Collection[str]) -> EntryAbout:
    values = personal_values(entry.ip, entry.user_agent, entry.metadata)
    of_signer = entry.signer_id == signer_id
    kept = {path: value for path, value in values.items() if "salt" in entry.salts[path]}
    return EntryAbout(entry, {path: value for path, value in kept.items() if of_signer or value in addresses})


def _erase(entry: Entry, gone: Mapping[str, str], pseudonyms: Mapping[str, str]) -> None:
    left = {path: {"commitment": commitment(entry.salts[path]["salt"], value)} for path, value in gone.items()}
    entry.salts = {**entry.salts, **left}
    for path, value in gone.items():
        _replace(entry, path, pseudonyms.get(value, ERASED))
    entry.save(update_fields=["ip", "user_agent", "metadata", "salts"])


def _replace(entry: Entry, path: str, pseudonym: str) -> None:
    match path.split("/"):
        case ["metadata", key, number, name]:
            entry.metadata[key][int(number)][name] = pseudonym
        case ["metadata", key, number]:
            entry.metadata[key][int(number)] = pseudonym
        case ["metadata", key]:
            entry.metadata[key] = pseudonym
        case ["ip"]:
            entry.ip = ""
        case _:
            entry.user_agent = pseudonym
