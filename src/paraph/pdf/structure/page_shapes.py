"""Kinds of pages. The pages of a document mostly share one text but for the objects that they name: what was found
out about one of them holds for all, and what is written for one is written for all, with other objects named.
"""

import re
from functools import cached_property

from paraph.pdf.structure.objects import REGULAR, SPACE, Dictionary, Ref, Unsafe, parse, serialized

_GENERATION = 99_999  # larger than any generation in a file
_FIRST_DIGIT = rb"\d(?<!\d\d)"  # never start a match inside a number
_HOLE = re.compile(
    rb"(" + _FIRST_DIGIT + rb"(?:\d*+[" + SPACE + rb"]++\d++[" + SPACE + rb"]++R(?!" + REGULAR + rb")"
    rb"|(?<=/StructParents \d)\d*+(?!" + REGULAR + rb")))"
)
_MARKED = re.compile(rb"(" + _FIRST_DIGIT + rb"\d*+) 99999 R(?!" + REGULAR + rb")")
_NUMBER = re.compile(rb"\d+")


class PageShape:
    """What stands ``between`` the holes of its pages' texts. In the holes are references, and the page's number in
    the structure tree."""

    def __init__(self, between: tuple[bytes, ...]) -> None:
        self._between = between

    @cached_property
    def dictionary(self) -> Dictionary | None:
        """A page of this kind, with marks for what is in its holes; None where that cannot be read."""
        parts = [self._between[0]]
        for number, text in enumerate(self._between[1:]):
            parts += [serialized(Ref(number, _GENERATION)), text]
        try:
            value, _ = parse(b"".join(parts), 0)
        except Unsafe:
            return None
        return value if isinstance(value, dict) else None


def split_page(text: bytes) -> tuple[tuple[bytes, ...], list[bytes]]:
    """The text of a page: what stands between the holes, and what is in them."""
    pieces = _HOLE.split(text)
    return tuple(pieces[::2]), pieces[1::2]


def hole_number(value: object) -> int | None:
    """The number of the hole that a value in the dictionary of a kind is the mark of, from 0."""
    return value.number if isinstance(value, Ref) and value.generation == _GENERATION else None


def has_holes(value: object) -> bool:
    """Whether there is one in the value, at any depth."""
    return _MARKED.search(serialized(value)) is not None


def reference(text: bytes) -> Ref:
    """What is in a hole where a reference is."""
    number, generation = _NUMBER.findall(text)
    return Ref(int(number), int(generation))


class ShapeTemplate:
    """The text of a dictionary with marks, for any page of the kind."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._parts: list[bytes] = _MARKED.split(serialized(dictionary))
        self._order = [int(number) for number in self._parts[1::2]]

    def filled(self, holes: list[bytes]) -> bytes:
        """The text for the page with this in its holes."""
        parts = self._parts.copy()
        parts[1::2] = [holes[number] for number in self._order]
        return b"".join(parts)
