"""The graphics state in which page contents end, where that is beyond doubt (ISO 32000-1, 7.8.2).

Appended drawing operators show as intended only where every viewer reads the contents the same way. Contents that end
inside a string swallow what follows; poppler stops after an operator that lacks an operand, MuPDF after a hundred
unknown words. So contents count as certain only if they consist of known operators with their operands.

Poppler, Ghostscript and MuPDF carry marked content that a form, glyph, pattern or appearance leaves open over to what
is drawn next, annotations included: a hidden layer left unclosed (8.11) hides that too.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from paraph.pdf.structure.contents_grammar import (
    PAINTING,
    PATH_BEGINS,
    SPACES,
    ContentsDecoder,
    found_in,
    operations,
    well_formed,
)
from paraph.pdf.structure.objects import PdfStream, Ref
from paraph.pdf.structure.pages import PageNode, pages
from paraph.pdf.structure.revision import Revision

_DEEPEST = 200
_ELSEWHERE = frozenset(
    {b"/Contents", b"/Parent", b"/P", b"/Popup", b"/Dest", b"/A", b"/AA", b"/B", b"/IRT", b"/Metadata"}
)
_COMMENTED = re.compile(rb"%[^\r\n]*+\Z")
_CLIPPING = (b"W", b"W*")


class Ending(NamedTuple):
    """What contents leave open: ``states`` (``q``), ``marked`` content and a ``text`` object. ``strays``: there is a
    ``Q`` that closes nothing, which would undo a ``q`` put before the contents."""

    states: int = 0
    marked: int = 0
    text: bool = False
    strays: bool = False


CLEAN = Ending()


def ending(streams: Sequence[bytes]) -> Ending | None:
    """Return how the decoded content streams of a page end; ``None`` where viewers may disagree. White space must
    separate two streams, since viewers differ on whether the boundary itself does; an operation may extend over two
    streams, a string or comment may not."""
    if any(one and other and one[-1] not in SPACES and other[0] not in SPACES for one, other in pairwise(streams)):
        return None
    found = _ending(streams)
    if found is None and len(streams) > 1 and not any(b"BI" in each or _COMMENTED.search(each) for each in streams):
        found = _ending([b"\r".join(streams)])  # no string may contain a carriage return
    return found


def _ending(streams: Sequence[bytes]) -> Ending | None:
    state = _OpenSoFar()
    if not all(map(state.read, streams)) or state.pending:
        return None
    return Ending(state.states, state.marked, state.text, state.strays)


def without_strays(streams: Sequence[bytes]) -> bytes:
    """Return the streams joined into one, with white space in place of each ``Q`` that closes nothing."""
    depth, cleaned = 0, []
    for stream in streams:
        text = bytearray(stream)
        for operator, place in found_in(stream):
            if operator == b"q":
                depth += 1
            elif operator == b"Q" and depth:
                depth -= 1
            elif operator == b"Q":
                text[place] = 0x20
        cleaned.append(bytes(text))
    return b"\n".join(cleaned)


class _OpenSoFar:
    """What is open so far. ``pending``: a path was begun and neither painted nor ended; ``clips``: the path
    that is painted next clips."""

    __slots__ = ("clips", "marked", "pending", "states", "strays", "text")

    def __init__(self) -> None:
        self.states = self.marked = 0
        self.text = self.pending = self.strays = self.clips = False

    def read(self, stream: bytes) -> bool:
        """Read a whole stream. Return ``False`` where viewers may disagree on it."""
        images = b"BI" in stream
        operators = [found for found, _ in found_in(stream)] if images else operations().findall(stream)
        last = operators[-2] if len(operators) > 1 else b""  # before the empty end: the rest, where it is malformed
        if last and not well_formed().fullmatch(last):
            return False
        for operator in operators:
            if operator in (b"q", b"Q") and self.text:  # readers disagree on what these keep of the text's place
                return False
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
            elif operator[:2] == b"BI":
                continue
            elif operator and not self._path(operator):
                return False
        return self.states <= _DEEPEST

    def _path(self, operator: bytes) -> bool:
        """Return whether ``operator`` is part of a path that is not painted at once, or paints such a path."""
        if operator in PAINTING:
            clips_by_nothing = self.clips and not self.pending
            self.pending = self.clips = False
            return not clips_by_nothing
        if operator.strip() in _CLIPPING:  # by whatever path is painted next
            self.clips = True
            return True
        part = PATH_BEGINS.fullmatch(operator)
        if part is None or not (part[1] or self.pending):
            return False
        self.pending = True
        return True


def may_leave_layers_open(revision: Revision) -> bool:
    """Return whether the file has layers and something that its pages draw leaves, or may leave, marked content
    open."""
    root = revision.resolve(revision.reader.trailer.get(b"/Root"))
    if not isinstance(root, dict) or revision.resolve(root.get(b"/OCProperties")) is None:
        return False
    seen, decoder = set[Ref](), ContentsDecoder()
    for page in pages(revision.reader):
        roots = [page.dictionary, page.get(b"/Resources")]
        if _leave_open(_contents(revision, page), decoder) or any(
            _leave_open([item], decoder) for item in _drawn_streams(revision, roots, seen)
        ):
            return True
    return False


def _contents(revision: Revision, page: PageNode) -> list[Any]:
    value = revision.resolve(page.dictionary.get(b"/Contents"))
    return [revision.resolve(item) for item in value] if isinstance(value, list) else [value]


def _leave_open(streams: list[Any], decoder: ContentsDecoder) -> bool:
    """Return whether these streams, read in sequence, leave or may leave marked content open."""
    texts = decoder.decode([stream for stream in streams if isinstance(stream, PdfStream)])
    if texts is None:
        return True
    if not any(b"BDC" in text or b"BMC" in text for text in texts):
        return False
    found = ending(texts)
    return found is None or found.marked > 0


def _drawn_streams(revision: Revision, values: list[Any], seen: set[Ref]) -> Iterator[PdfStream]:
    """Yield the streams that are drawn (forms, patterns, glyphs, appearances), each once."""
    waiting = [(value, False) for value in values]
    while waiting:
        value, drawn = waiting.pop()
        if type(value) is Ref:
            if value in seen:
                continue
            seen.add(value)
            value = revision.resolve(value)
        if isinstance(value, list):
            waiting += [(item, drawn) for item in value]
        elif isinstance(value, dict):
            waiting += [(item, drawn or key == b"/CharProcs") for key, item in value.items() if key not in _ELSEWHERE]
        elif isinstance(value, PdfStream):
            if drawn or value.dictionary.get(b"/Subtype") == b"/Form" or b"/PatternType" in value.dictionary:
                yield value
            waiting += [(item, False) for key, item in value.dictionary.items() if key not in _ELSEWHERE]


class PageEndings:
    """The endings of the pages of one file, whose references ``resolve`` follows. ``clean_contents``: the contents of
    every page leave nothing open and close nothing that they did not open, so they are not read again."""

    def __init__(self, resolve: Callable[[Any], Any], *, clean_contents: bool = False) -> None:
        self._resolve = resolve
        self._all_clean = clean_contents
        self._endings: dict[tuple[Any, ...], Ending | None] = {}
        self._decoder = ContentsDecoder()

    def contents(self, value: Any) -> list[Any] | None:
        """Return the references of the content streams in a page's entry; ``None`` for malformed contents."""
        resolved = self._resolve(value)
        if isinstance(resolved, list):
            return list(resolved) if all(type(item) is Ref for item in resolved) else None
        if value is None:
            return []
        return [value] if isinstance(resolved, PdfStream) else None

    def ending(self, contents: Iterable[Any]) -> Ending | None:
        """Return how these streams together end; ``None`` where viewers may disagree."""
        if self._all_clean:
            return CLEAN
        key = tuple(contents)
        if key not in self._endings:
            texts = self.decoded(key)
            self._endings[key] = None if texts is None else ending(texts)
        return self._endings[key]

    def decoded(self, contents: Sequence[Any]) -> list[bytes] | None:
        """Return the decoded streams; ``None`` where one of them fails."""
        streams = [self._resolve(item) for item in contents]
        return self._decoder.decode(streams) if all(type(stream) is PdfStream for stream in streams) else None
