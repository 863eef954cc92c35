"""What the places share in which something is kept of a person: how the person is known, and how a text names them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import unquote

from paraph.drafts.models import DraftSigner
from paraph.signature_requests.models import CopyRecipient, Signer

Facts = dict[str, Any]
Subject = TypeVar("Subject")
Row = TypeVar("Row")


@dataclass(frozen=True)
class Place(Generic[Subject, Row]):
    """``find`` returns what the place has about the subject, and ``tell`` what stands in one of these, as plain JSON.

    ``erase`` takes what ``find`` returned for the subject and returns how many of these it changed; None where nothing
    is erased, and then ``stays`` says why. ``columns``: those of the database that personal values stand in, as
    ``table.column``.
    """

    name: str
    columns: frozenset[str]
    find: Callable[[Subject], Iterable[Row]]
    tell: Callable[[Row], Facts]
    erase: Callable[[Subject, Sequence[Row]], int] | None = None
    stays: str = ""


Named = Signer | DraftSigner | CopyRecipient

_SHORTEST_NAME = 3  # shorter ones are parts of many words
_BETWEEN = re.compile(r"[\s<>,:;\"'()\[\]]+")


@dataclass(frozen=True)
class Person:
    """Addresses and numbers of a person and, where they are known, both names. ``organization_id``: whose data are
    looked through; None for those of all."""

    addresses: frozenset[str]
    first_name: str = ""
    last_name: str = ""
    organization_id: int | None = None

    def of(self, path: str) -> dict[str, Any]:
        """Return the filter for rows whose organization stands at that path."""
        return {} if self.organization_id is None else {path: self.organization_id}


def columns(table: str, names: str) -> frozenset[str]:
    """Return the columns of a table as :class:`Place` has them; ``names`` are separated by spaces."""
    return frozenset(f"{table}.{name}" for name in names.split())


def naming(named: Named, texts: dict[str, str]) -> list[str]:
    """Return the names of the texts that name the person, also as addresses of pages write it."""
    parts = (named.first_name, named.last_name, named.email, getattr(named, "phone", ""))
    wanted = [each.casefold() for each in parts if len(each) >= _SHORTEST_NAME]
    return [name for name, text in texts.items() if any(each in unquote(text).casefold() for each in wanted)]


def delete_rows(_subject: object, rows: Sequence[Any]) -> int:
    """Delete these rows, each with what belongs to it."""
    for row in rows:
        row.delete()
    return len(rows)


def has_address(person: Person, entered: Iterable[str]) -> bool:
    """Return whether an address stands there as a whole, also among other words or, if a number, with spaces."""
    wanted = {_folded(address) for address in person.addresses}
    return any(not wanted.isdisjoint({_folded(text), *map(_folded, _BETWEEN.split(text))}) for text in entered)


def names_person(person: Person, text: str) -> bool:
    """Return whether an address of the person, or both names, stand in a text of any kind as a whole, also as addresses
    of pages write it."""
    read = unquote(text).casefold()
    names = {person.first_name.casefold(), person.last_name.casefold()}
    if "" not in names and all(_stands_in(name, read) for name in names):
        return True
    return any(_stands_in(_folded(address), read) for address in person.addresses)


def _stands_in(wanted: str, text: str) -> bool:
    """Return whether it stands there as a whole; a number may be written with spaces and the like."""
    between = r"[\s.()/-]*" if wanted.startswith("+") else ""
    pattern = between.join(map(re.escape, wanted))
    return re.search(rf"(?<![\w.+-]){pattern}(?![\w-]|\.\w)", text) is not None


def has_name(person: Person, entered: Iterable[str]) -> bool:
    names = {_folded(person.first_name), _folded(person.last_name)}
    return "" not in names and names <= {_folded(text) for text in entered}


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()
