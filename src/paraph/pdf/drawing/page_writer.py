"""Appending drawings to the contents of pages."""

from paraph.pdf.drawing.marks import Drawing
from paraph.pdf.structure.graphics_state import without_strays
from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe
from paraph.pdf.structure.page_endings import PageEndings
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.revision import Revision


class PageWriter:
    """Append drawings to pages; streams that several pages need are written once. ``clean_contents``: see
    :class:`~paraph.pdf.structure.page_endings.PageEndings`."""

    def __init__(self, revision: Revision, *, clean_contents: bool) -> None:
        self._revision = revision
        self._streams: dict[bytes, Ref] = {}
        self._endings = PageEndings(revision.resolve, clean_contents=clean_contents)

    def can_append(self, page: PageNode) -> bool:
        """Return whether every viewer shows what is appended to the contents of the page."""
        contents = self._endings.contents(page.dictionary.get(b"/Contents"))
        return contents is not None and self._endings.ending(contents) is not None

    def write(self, page: PageNode, drawing: Drawing) -> None:
        """Write ``q``, the page's contents, the end of all that they leave open, ``Q`` and the drawing."""
        contents = self._endings.contents(page.dictionary.get(b"/Contents"))
        left_open = self._endings.ending(contents) if contents is not None else None
        if contents is None or left_open is None:
            raise Unsafe("what is appended to the contents of a page would not show")
        if left_open.strays:
            contents = [self._revision.stream(without_strays(self._endings.decoded(contents) or []))]
        dictionary = self._revision.change(page.ref)
        prefix = self._name_drawing(dictionary, page.inherited, drawing)
        operators = _renamed(drawing.operators, prefix) if prefix else drawing.operators
        closed = b"\nET" * left_open.text + b"\nEMC" * left_open.marked + b"\nQ" * (1 + left_open.states)
        dictionary[b"/Contents"] = [self._stream(b"q\n"), *contents, self._stream(closed + b"\n" + operators)]

    def _stream(self, data: bytes) -> Ref:
        if data not in self._streams:
            self._streams[data] = self._revision.stream(data)
        return self._streams[data]

    def _name_drawing(self, dictionary: Dictionary, inherited: Dictionary, drawing: Drawing) -> bytes:
        """Add the names of the drawing to the page's resources. Return the letters to insert after "/Paraph" to
        make the names unique. Indirect resources are changed in place, once for all pages that share them; resources
        that the page holds or inherits directly are copied into the page."""
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
        return prefix


def _free_prefix(existing: Dictionary, names: dict[bytes, Ref]) -> bytes:
    """Return letters that make every name either unused or already ours."""
    prefix = b""
    while any(existing.get(_renamed(name, prefix), ref) != ref for name, ref in names.items()):
        prefix += b"x"
    return prefix


def _renamed(text: bytes, prefix: bytes) -> bytes:
    return text.replace(b"/Paraph", b"/Paraph" + prefix) if prefix else text
