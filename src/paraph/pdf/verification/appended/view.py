"""A file before and after one incremental update, object by object."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.verification.appended.revision import AppendedRevision
from paraph.pdf.verification.appended.syntax import NotPermitted, meaning

_MOST_STEPS = 32
_LONGEST_GAP = 64
_REST_OF_REFERENCE = rb"[\x00\t\n\x0c\r ]++\d++[\x00\t\n\x0c\r ]++R(?![A-Za-z0-9])"
_SPACE = b"\0\t\n\x0c\r "


class Update:
    """One update over the file that ``before`` reads. It notes which of its objects are accounted for; whatever is left
    at the end has no business there."""

    def __init__(self, before: PdfReader, revision: AppendedRevision) -> None:
        self.before = before
        self.revision = revision
        self._accounted = set[Ref]()
        self._first_new = before.crossreference.next_number

    def is_new(self, value: Any) -> bool:
        """Return whether ``value`` refers to an object of this update whose number the file did not use before."""
        return type(value) is Ref and value in self.revision.objects and value.number >= self._first_new

    def changed(self, value: Any) -> bool:
        """Return whether ``value`` refers to an object that this update writes anew."""
        return type(value) is Ref and value in self.revision.objects and not self.is_new(value)

    def account(self, ref: Ref) -> Any:
        """Return an object of the update, which is accounted for from now on."""
        self._accounted.add(ref)
        return self.revision.objects[ref]

    def was(self, value: Any) -> Any:
        """Resolve a value as the file was before."""
        return self.before.resolve(value)

    def now(self, value: Any) -> Any:
        """Resolve a value as it is with the update, and account for what of the update was needed."""
        for _ in range(_MOST_STEPS):
            if type(value) is not Ref:
                return value
            value = self.account(value) if value in self.revision.objects else self.before.object(value)
        raise NotPermitted("references go round in a circle")

    def dictionary(self, value: Any, what: str) -> Dictionary:
        """Resolve a new dictionary. Raises :class:`NotPermitted` for anything else."""
        result = self.now(value)
        if not isinstance(result, dict):
            raise NotPermitted(f"{what} is no dictionary")
        return result

    def stream(self, value: Any, what: str) -> PdfStream:
        """Resolve a new stream. Raises :class:`NotPermitted` unless it is one of this update's own."""
        result = self.account(value) if self.is_new(value) else None
        if not isinstance(result, PdfStream):
            raise NotPermitted(f"{what} is no new stream")
        return result

    def is_accounted(self, ref: Ref) -> bool:
        """Return whether something needed this object of the update already."""
        return ref in self._accounted

    def check_unwanted(self, number: int, but_after: bytes = b"") -> None:
        """Raise :class:`NotPermitted` if the file referred to an object before the update wrote it, other than behind
        the key ``but_after``. A page could have waited for it, to draw it once it is there."""
        reference = re.compile(rb"%d" % number + _REST_OF_REFERENCE)  # begins with plain letters, which is found fast
        for text in self._texts:
            for match in reference.finditer(text):
                before = text[max(0, match.start() - _LONGEST_GAP) : match.start()].rstrip(b"0")
                is_another = before[-1:].isdigit()
                if not is_another and not (but_after and before.rstrip(_SPACE).endswith(but_after)):
                    raise NotPermitted(f"object {number} was referred to before it was written")

    @cached_property
    def _texts(self) -> list[bytes]:
        """The file before, and the text of its object streams."""
        return [self.before.data, *self.before.packed_texts()]

    def left_over(self) -> Iterator[Ref]:
        """Yield the objects of the update that nothing accounted for."""
        return (ref for ref in self.revision.objects if ref not in self._accounted)


def check_same(what: str, old: Dictionary, new: Dictionary, but_for: frozenset[bytes]) -> None:
    """Raise :class:`NotPermitted` unless both dictionaries mean the same, but for some keys."""
    before, after = meaning(old), meaning(new)
    for key in before.keys() | after.keys():
        if key not in but_for and before.get(key) != after.get(key):
            raise NotPermitted(f"{what} has another {key.decode('latin-1', 'replace')}")


def check_keys(what: str, dictionary: Dictionary, allowed: frozenset[bytes]) -> None:
    """Raise :class:`NotPermitted` for a key that is not in ``allowed``."""
    for key in meaning(dictionary):
        if key not in allowed:
            raise NotPermitted(f"{what} has an entry {key.decode('latin-1', 'replace')}")


def appended_to(what: str, old: Any, new: Any) -> list[Any]:
    """Return what a list gained at its end. Raises :class:`NotPermitted` if it changed otherwise."""
    earlier = old if isinstance(old, list) else []
    if not isinstance(new, list) or new[: len(earlier)] != earlier:
        raise NotPermitted(f"{what} no longer lists what it listed")
    return new[len(earlier) :]
