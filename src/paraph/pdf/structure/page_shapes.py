"""Page shapes: most pages of a document have the same text except for the objects that they name.

What holds for one page of a shape holds for all, and a page is written by filling its references into a template.
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
    """The text ``between`` the holes of its pages; a hole holds a reference, or the number in the structure tree."""

    def __init__(self, between: tuple[bytes, ...]) -> None:
        self._between = between

    @cached_property
    def dictionary(self) -> Dictionary | None:
        """The page dictionary with placeholder references in its holes; ``None`` if it cannot be parsed."""
        parts = [self._between[0]]
        for number, text in enumerate(self._between[1:]):
            parts += [serialized(Ref(number, _GENERATION)), text]
        try:
            value, _ = parse(b"".join(parts), 0)
        except Unsafe:
            return None
        return value if isinstance(value, dict) else None


def split_page(text: bytes) -> tuple[tuple[bytes, ...], list[bytes]]:
    """Split the text of a page into what stands between its holes and what is in them."""
    pieces = _HOLE.split(text)
    return tuple(pieces[::2]), pieces[1::2]


def hole_number(value: object) -> int | None:
    """Return the number of the hole (from 0) that a placeholder stands for; ``None`` for any other value."""
    return value.number if isinstance(value, Ref) and value.generation == _GENERATION else None


def has_holes(value: object) -> bool:
    """Return whether the value contains a placeholder at any depth."""
    return _MARKED.search(serialized(value)) is not None


def reference(text: bytes) -> Ref:
    number, generation = _NUMBER.findall(text)
    return Ref(int(number), int(generation))


class ShapeTemplate:
    """The text of a dictionary with placeholders, to be filled for any page of the shape."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._parts: list[bytes] = _MARKED.split(serialized(dictionary))
        self._order = [int(number) for number in self._parts[1::2]]

    def filled(self, holes: list[bytes]) -> bytes:
        parts = self._parts.copy()
        parts[1::2] = [holes[number] for number in self._order]
        return b"".join(parts)
