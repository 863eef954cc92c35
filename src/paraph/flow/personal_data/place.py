"""Places in which something is kept of a person: how it is found, the columns, how it is described, and what erasing
puts in its place; how a person is known, and how a text names them."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar
from urllib.parse import unquote

from django.db.models import Q

from paraph.drafts.models import DraftSigner
from paraph.kernel import clock
from paraph.signature_requests.models import ERASED_DOMAIN, CopyRecipient, SignatureRequest, Signer
from paraph.webhooks.models import Delivery, Event

Facts = dict[str, Any]
Subject = TypeVar("Subject")
Row = TypeVar("Row")


@dataclass(frozen=True)
class Place(Generic[Subject, Row]):
    """``find`` returns the rows that the place has about the subject, ``describe`` the content of one of these, as
    plain JSON. ``erase`` takes the rows that ``find`` returned for the subject and returns how many of these it
    changed; it is None where nothing is erased, and then ``stays`` says why. ``kept_in``: the columns with personal
    values, as ``table: column column; table: column``."""

    name: str
    kept_in: str
    find: Callable[[Subject], Iterable[Row]]
    describe: Callable[[Row], Facts]
    erase: Callable[[Subject, Sequence[Row]], int] | None = None
    stays: str = ""

    @property
    def columns(self) -> set[str]:
        """The columns, as ``table.column``."""
        tables = (each.split(":") for each in self.kept_in.split(";") if ":" in each)
        return {f"{table.strip()}.{column}" for table, columns in tables for column in columns.split()}


Named = Signer | DraftSigner | CopyRecipient

FIRST_NAME = "Erased"

_SHORTEST_NAME = 3  # shorter ones are parts of many words
_BETWEEN = re.compile(r"[\s<>,:;\"'()\[\]]+")


@dataclass(frozen=True)
class Person:
    """Addresses and numbers of a person and, where they are known, both names. ``organization_id``: the organization
    whose data are searched; None for all."""

    addresses: frozenset[str]
    first_name: str = ""
    last_name: str = ""
    organization_id: int | None = None

    def of(self, path: str) -> dict[str, Any]:
        """Return the filter for rows whose organization stands at that path."""
        return {path: self.organization_id} if path and self.organization_id is not None else {}


Signers = Sequence[Signer]
"""Signers of one request or several; those of the same request have one and the same object for it."""


def of_signers(model: Any) -> Callable[[Signers], Iterable[Any]]:
    """Return a function that finds the rows of signers."""
    return lambda signers: model.objects.filter(signer__in=signers).order_by("pk")


def with_address(model: Any, path: str, organization: str = "") -> Callable[[Person], Iterable[Any]]:
    """Return a function that finds the rows with one of the person's addresses at the path; only rows of one
    organization, where its path is given and the person is looked for in one."""
    return lambda person: model.objects.filter(among(person, path), **person.of(organization)).order_by("pk")


def among(person: Person, path: str) -> Q:
    """Return the condition that one of the addresses stands at the path, in upper or lower case."""
    found = Q(pk__in=[])
    for address in person.addresses:
        found |= Q(**{f"{path}__iexact": address})
    return found


def showing(*parts: str | Callable[[Any], Facts]) -> Callable[[Any], Facts]:
    """Return a function that describes a row, part by part: attributes at paths that spaces separate, each by the last
    name in its path or by the one before a ``=``, and what functions return for the row. Moments become text."""
    readers = [part if callable(part) else _reader(part) for part in parts]

    def describe(row: Any) -> Facts:
        told = {name: fact for read in readers for name, fact in read(row).items()}
        return {name: clock.iso(fact) if isinstance(fact, datetime) else fact for name, fact in told.items()}

    return describe


def _reader(part: str) -> Callable[[Any], Facts]:
    paths = [
        (name or path.rpartition(".")[2], path) for name, _, path in (each.rpartition("=") for each in part.split())
    ]
    return lambda row: {name: attrgetter(path)(row) for name, path in paths}


SHOW_CAPTURED = showing("to channel subject text created_at")  # of a message


def replaced(**values: Any) -> Callable[[object, Sequence[Any]], int]:
    """Return a function that writes these values into rows of one table; a value that is a function is called with the
    row. The row objects stay as they are: their names are still needed."""
    own = {name: value for name, value in values.items() if callable(value)}
    same = {name: value for name, value in values.items() if name not in own}

    def erase(_subject: object, rows: Sequence[Any]) -> int:
        if rows:
            every = type(rows[0]).objects.filter(pk__in=[row.pk for row in rows])
            every.update(**same)
            update([type(row)(pk=row.pk, **{name: each(row) for name, each in own.items()}) for row in rows], *own)
        return len(rows)

    return erase


def update(rows: Sequence[Any], *columns: str) -> int:
    """Write these columns of rows of one table; return how many rows there were."""
    return int(type(rows[0]).objects.bulk_update(rows, columns)) if rows and columns else 0


def rewrite_recorded(request: SignatureRequest, change: Callable[[Facts], object]) -> None:
    """Change what the events and the recorded webhooks of a request say, as :func:`rewrite` does."""
    rewrite(list(Event.objects.filter(request=request)), change)
    rewrite(list(Delivery.objects.filter(request=request)), change)


def rewrite(rows: Sequence[Event | Delivery], change: Callable[[Facts], object]) -> int:
    """Write the payloads of these events or webhooks as ``change`` leaves them; return how many rows there were."""
    for row in rows:
        content = json.loads(row.payload)
        change(content)
        row.payload = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return update(rows, "payload")


def pseudonym(signer: Signer) -> str:
    """Return the address that stands in the place of an erased signer's."""
    return f"signer-{signer.pk}{ERASED_DOMAIN}"


def last_name(signer: Signer) -> str:
    return f"signer {signer.pk}"


def naming(named: Named, texts: dict[str, str]) -> list[str]:
    """Return the names of the texts that name the person, also percent-encoded as in URLs."""
    parts = (named.first_name, named.last_name, named.email, getattr(named, "phone", ""))
    wanted = [each.casefold() for each in parts if len(each) >= _SHORTEST_NAME]
    return [name for name, text in texts.items() if any(each in unquote(text).casefold() for each in wanted)]


def delete_rows(_subject: object, rows: Sequence[Any]) -> int:
    """Delete these rows of one table, each with what belongs to it."""
    if rows:
        type(rows[0]).objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)


def has_address(person: Person, entered: Iterable[str]) -> bool:
    """Return whether ``entered`` has an address as a whole, also among other words or, if a number, with spaces."""
    wanted = {_folded(address) for address in person.addresses}
    return any(not wanted.isdisjoint({_folded(text), *map(_folded, _BETWEEN.split(text))}) for text in entered)


def names_person(person: Person, text: str) -> bool:
    """Return whether an address of the person, or both names, stand in a text of any kind as a whole, also
    percent-encoded as in URLs."""
    read = unquote(text).casefold()
    names = {person.first_name.casefold(), person.last_name.casefold()}
    if "" not in names and all(_stands_in(name, read) for name in names):
        return True
    return any(_stands_in(_folded(address), read) for address in person.addresses)


def _stands_in(wanted: str, text: str) -> bool:
    """Return whether ``wanted`` stands in the text as a whole; a number may be written with spaces and the like."""
    between = r"[\s.()/-]*" if wanted.startswith("+") else ""
    pattern = between.join(map(re.escape, wanted))
    return re.search(rf"(?<![\w.+-]){pattern}(?![\w-]|\.\w)", text) is not None


def has_name(person: Person, entered: Iterable[str]) -> bool:
    names = {_folded(person.first_name), _folded(person.last_name)}
    return "" not in names and names <= {_folded(text) for text in entered}


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()
