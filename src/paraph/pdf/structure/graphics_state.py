"""The graphics state in which page contents end, where that is beyond doubt (ISO 32000-1, 7.8.2).

Appended drawing operators show as intended only where every viewer reads the contents the same way. Contents that end
inside a string swallow what follows; poppler stops after an operator that lacks an operand, MuPDF after a hundred
unknown words. So contents count as certain only if they consist of known operators with their operands.
"""

from collections.abc import Sequence
from typing import NamedTuple

from paraph.pdf.structure.contents_grammar import PAINTING, PATH_BEGINS, SPACES, operations

_DEEPEST = 200


class Ending(NamedTuple):
    """What contents leave open: ``states`` (``q``), ``marked`` content and a ``text`` object. ``strays``: there is a
    ``Q`` that closes nothing, which would undo a ``q`` put before the contents."""

    states: int = 0
    marked: int = 0
    text: bool = False
    strays: bool = False


CLEAN = Ending()


def ending(streams: Sequence[bytes]) -> Ending | None:
    """Return how the decoded content streams of a page end; ``None`` where viewers may disagree. Each stream must be
    certain by itself: viewers differ on whether white space or a token boundary separates two streams."""
    state = _OpenSoFar()
    for number, stream in enumerate(streams):
        if (number and not _apart(streams[number - 1], stream)) or not state.read(stream):
            return None
    return None if state.pending else Ending(state.states, state.marked, state.text, state.strays)


def without_strays(streams: Sequence[bytes]) -> bytes:
    """Return the streams joined into one, with white space in place of each ``Q`` that closes nothing."""
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
    """Whether the last token of one stream and the first of the next are separated."""
    return not one or not other or one[-1] in SPACES or other[0] in SPACES


class _OpenSoFar:
    """What is open so far. ``pending``: a path was begun and neither painted nor ended."""

    __slots__ = ("marked", "pending", "states", "strays", "text")

    def __init__(self) -> None:
        self.states = self.marked = 0
        self.text = self.pending = self.strays = False

    def read(self, stream: bytes) -> bool:
        """Read a whole stream; ``False`` where it is not certain."""
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
        """Whether ``operator`` is part of a path that is not painted at once, or paints such a path."""
        if operator in PAINTING:
            self.pending = False
            return True
        part = PATH_BEGINS.fullmatch(operator)
        if part is None or not (part[1] or self.pending):
            return False
        self.pending = True
        return True
