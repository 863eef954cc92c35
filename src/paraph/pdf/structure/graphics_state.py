"""In which state the contents of a page end, where that is beyond doubt (ISO 32000-1, 7.8.2).

What is appended to contents is drawn as intended only where every viewer reads them alike. Contents that end within a
string swallow what follows; poppler shows nothing more after an operator that lacks an operand, MuPDF after a hundred
words that it does not know. Contents are certain when they consist of known operators with their operands, and of
nothing else.
"""

from collections.abc import Sequence
from typing import NamedTuple

from paraph.pdf.structure.contents_grammar import PAINTING, PATH_BEGINS, SPACES, operations

_DEEPEST = 200


class Ending(NamedTuple):
    """What contents leave open: so many ``q``, so much marked content, a text object. ``strays``: whether there is a
    ``Q`` that closes nothing; it would undo the ``q`` that is put before the contents."""

    states: int = 0
    marked: int = 0
    text: bool = False
    strays: bool = False


CLEAN = Ending()


def ending(streams: Sequence[bytes]) -> Ending | None:
    """Of the streams of a page, decoded. None where viewers may read them differently.

    Each stream must be certain by itself: some viewers put white space between two of them and some do not, or take
    what begins in one of them as ended there.
    """
    state = _OpenSoFar()
    for number, stream in enumerate(streams):
        if (number and not _apart(streams[number - 1], stream)) or not state.read(stream):
            return None
    return None if state.pending else Ending(state.states, state.marked, state.text, state.strays)


def without_strays(streams: Sequence[bytes]) -> bytes:
    """The same as one stream, with white space in place of each ``Q`` that closes nothing."""
    depth, cleaned = 0, []
    for stream in streams:
        text = bytearray(stream)
        for match in operations().finditer(stream):
            if match[1] == b"q":
                depth += 1
            elif match[1] == b"Q" and depth:
                depth -= 1
            elif match[1] == b"Q":
                text[match.start(1)] = 0x20
        cleaned.append(bytes(text))
    return b"\n".join(cleaned)


def _apart(one: bytes, other: bytes) -> bool:
    """Whether the last word of one stream and the first of the next are two words without anything between them."""
    return not one or not other or one[-1] in SPACES or other[0] in SPACES


class _OpenSoFar:
    """What is open so far. ``pending``: a path that was neither painted nor ended."""

    __slots__ = ("marked", "pending", "states", "strays", "text")

    def __init__(self) -> None:
        self.states = self.marked = 0
        self.text = self.pending = self.strays = False

    def read(self, stream: bytes) -> bool:
        """Whether all of the stream is certain."""
        for operator in operations().findall(stream):
            if operator == b"q":
                self.states += 1
            elif operator == b"Q":
                self.strays |= not self.states
                self.states -= self.states > 0
            elif operator in (b"BT", b"ET"):
                self.text = operator == b"BT"
            elif operator == b"EMC":
                self.marked -= self.marked > 0
            elif operator[-3:] in (b"BMC", b"BDC"):
                self.marked += 1
            elif operator and not self._path(operator):
                return False
        return self.states <= _DEEPEST

    def _path(self, operator: bytes) -> bool:
        """Whether it is a part of a path that is not painted at once, or the painting of such a path."""
        if operator in PAINTING:
            self.pending = False
            return True
        part = PATH_BEGINS.fullmatch(operator)
        if part is None or not (part[1] or self.pending):
            return False
        self.pending = True
        return True
