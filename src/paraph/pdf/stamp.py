"""Drawing over the pages of a file within a revision, so that nothing else of the pages changes."""

from collections.abc import Iterable
from typing import Any

from paraph.pdf.contents import unclosed
from paraph.pdf.marks import Drawing
from paraph.pdf.objects import Dictionary, Ref, Stream, Unsafe
from paraph.pdf.pages import Page
from paraph.pdf.reader import decoded
from paraph.pdf.revision import Revision


class Stamper:
    """Adds drawings to pages. Streams that several pages need are written once."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self._streams: dict[bytes, Ref] = {}
        self._balance: dict[tuple[Any, ...], tuple[int, Ref | None]] = {}
        self._known: set[tuple[Ref, int]] = set()

    def stamp(self, page: Page, drawing: Drawing) -> None:
        """Draws over the page: ``q``, what was there, ``Q``, the drawing."""
        before = self._contents(page.dictionary.get(b"/Contents"))
        open_states, rewritten = self._balanced(before)
        before = before if rewritten is None else [rewritten]
        self.draw_over(self._revision.change(page.ref), page.inherited, before, drawing, open_states)

    def draw_over(
        self, dictionary: Dictionary, inherited: Dictionary, before: list[Any], drawing: Drawing, open_states: int = 0
    ) -> None:
        """The same to the dictionary of a page, whose contents ``before`` leave so many ``q`` open."""
        prefix = self._add_names(dictionary, inherited, drawing)
        operators = _renamed(drawing.operators, prefix) if prefix else drawing.operators
        after = self._stream(b"\nQ" * (1 + open_states) + b"\n" + operators)
        dictionary[b"/Contents"] = [self._stream(b"q\n"), *before, after]

    def leaves_state(self, contents: list[Ref]) -> bool:
        """Whether these are streams that together open and close the same number of ``q``."""
        streams = all(isinstance(self._revision.resolve(ref), Stream) for ref in contents)
        return streams and self._balanced(contents) == (0, None)

    def knows(self, resources: Ref, drawing: Drawing) -> bool:
        """Whether these have the names of the drawing already, just as it uses them."""
        return (resources, id(drawing)) in self._known

    def _contents(self, value: Any) -> list[Any]:
        """The content streams as a list of its own."""
        resolved = self._revision.resolve(value)
        if isinstance(resolved, list):
            return list(resolved)
        return [value] if isinstance(resolved, Stream) else []

    def _balanced(self, contents: list[Any]) -> tuple[int, Ref | None]:
        """How many ``q`` the contents leave open, and contents without stray ``Q`` where they have some."""
        key = tuple(contents)
        if key not in self._balance:
            try:
                streams = [self._revision.resolve(item) for item in contents]
                text = b"\n".join([decoded(stream) for stream in streams if isinstance(stream, Stream)])
            except Unsafe:  # cannot be decoded: viewers show nothing of it either
                text = b""
            depth, strays = unclosed(text)
            rewritten = self._revision.stream(_without(text, strays)) if strays else None
            self._balance[key] = (depth, rewritten)
        return self._balance[key]

    def _stream(self, data: bytes) -> Ref:
        if data not in self._streams:
            self._streams[data] = self._revision.stream(data)
        return self._streams[data]

    def _add_names(self, dictionary: Dictionary, inherited: Dictionary, drawing: Drawing) -> bytes:
        """Makes the drawing's names known to the page. Returns what must be put after "/Paraph" in them to be unique.

        A dictionary of its own indirect object is changed there, once for all pages that share it; a page that
        holds or inherits its resources directly gets them with the names added.
        """
        holder = dictionary.get(b"/Resources", inherited.get(b"/Resources"))
        resources = self._revision.resolve(holder)
        resources = resources if isinstance(resources, dict) else {}
        known = resources.get(b"/XObject")
        existing = self._revision.resolve(known)
        existing = existing if isinstance(existing, dict) else {}
        prefix = _free_prefix(existing, drawing.names)
        added = {_renamed(name, prefix): ref for name, ref in drawing.names.items()}
        if type(known) is Ref and existing:
            self._revision.change(known).update(added)
        elif type(holder) is Ref and resources:
            self._revision.change(holder)[b"/XObject"] = {**existing, **added}
        else:
            dictionary[b"/Resources"] = {**resources, b"/XObject": {**existing, **added}}
            return prefix
        if type(holder) is Ref and not prefix:
            self._known.add((holder, id(drawing)))
        return prefix


def _free_prefix(existing: Iterable[bytes], names: dict[bytes, Ref]) -> bytes:
    """Letters that make every name either unknown or already ours."""
    known = existing if isinstance(existing, dict) else {}
    prefix = b""
    while any(known.get(_renamed(name, prefix), ref) != ref for name, ref in names.items()):
        prefix += b"x"
    return prefix


def _renamed(text: bytes, prefix: bytes) -> bytes:
    return text.replace(b"/Paraph", b"/Paraph" + prefix) if prefix else text


def _without(text: bytes, positions: list[int]) -> bytes:
    kept = bytearray(text)
    for position in positions:
        kept[position] = 0x20
    return bytes(kept)
