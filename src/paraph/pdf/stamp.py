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
        self._owned: dict[Ref, Ref] = {}

    def stamp(self, page: Page, drawing: Drawing) -> None:
        """Draws over the page: ``q``, what was there, ``Q``, the drawing."""
        dictionary = self._revision.change(page.ref)
        prefix = self._add_names(page, dictionary, drawing.names)
        operators = _renamed(drawing.operators, prefix) if prefix else drawing.operators
        before = self._contents(dictionary.get(b"/Contents"))
        open_states, rewritten = self._balanced(before)
        if rewritten is not None:
            before = [rewritten]
        after = self._stream(b"\nQ" * (1 + open_states) + b"\n" + operators)
        dictionary[b"/Contents"] = [self._stream(b"q\n"), *before, after]

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

    def _add_names(self, page: Page, dictionary: Dictionary, names: dict[bytes, Ref]) -> bytes:
        """Makes ``names`` known to the page. Returns what must be put after "/Paraph" in them to be unique.

        A dictionary of its own indirect object is changed there, once for all pages that share it; a page that
        holds or inherits its resources directly gets them with the names added.
        """
        resources = self._revision.resolve(page.get(b"/Resources"))
        resources = resources if isinstance(resources, dict) else {}
        holder = page.get(b"/Resources")
        known = resources.get(b"/XObject")
        existing = self._revision.resolve(known)
        existing = existing if isinstance(existing, dict) else {}
        prefix = _free_prefix(existing, names)
        added = {_renamed(name, prefix): ref for name, ref in names.items()}
        if type(known) is Ref and existing:
            self._revision.change(known).update(added)
            if b"/Resources" not in dictionary and b"/Resources" not in page.inherited:
                raise Unsafe("resources without an owner")
        elif type(holder) is Ref and resources:
            self._revision.change(holder)[b"/XObject"] = {**existing, **added}
        else:
            dictionary[b"/Resources"] = {**resources, b"/XObject": {**existing, **added}}
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
