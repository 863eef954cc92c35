"""References to objects within contents, where none may stand (ISO 32000-2, 7.8.2). Some readers resolve them all the
same, so that such contents change once a later revision adds the object."""

import re
from collections.abc import Iterable
from typing import Any

from paraph.pdf.structure.crossreference import LARGEST_NUMBER
from paraph.pdf.structure.objects import CONFUSED, REST_OF_REFERENCE, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked

_MOST_AT_ONCE = 16 << 20  # bytes of one stream
_MOST_IN_ALL = 64 << 20
_XOBJECTS, _AN_XOBJECT, _FONT_DESCRIPTOR = b"/XObject", b"an XObject", b"/FontDescriptor"
_COLOURS, _COLOUR_SPACES = b"a colour space", (b"/ICCBased", b"/Indexed")
_FONT_PROGRAMS = (b"/FontFile", b"/FontFile2", b"/FontFile3")
"""Keys of a font descriptor. Some font programs are text, in which numbers and an R mean something else."""
_MAY_REFER = re.compile(rb"(?<![A-Za-z()<>\[\]{}/])R(?![A-Za-z0-9])")
_REFERENCE = re.compile(rb"(?<![-+.\d])[-+.]*+(\d++)" + REST_OF_REFERENCE)


def referred_in_contents(reader: PdfReader, nodes: Iterable[PageNode]) -> frozenset[int]:
    """Return the numbers of all objects to which the contents of pages, forms, patterns, glyphs and appearances refer.
    What cannot be unpacked, and what exceeds 64 MB in all, is passed over. Raise :class:`Unsafe` or one of CONFUSED
    where an object that they draw with cannot be parsed: other readers may find references in it."""
    walk = _Walk(reader)
    for node in nodes:
        walk.draw(node.dictionary.get(b"/Contents"))
        walk.visit(node.get(b"/Resources"))
        annotations = walk.resolved(node.dictionary.get(b"/Annots"))
        for item in annotations if isinstance(annotations, list) else ():
            annotation = walk.resolved(item)
            walk.visit(annotation.get(b"/AP") if isinstance(annotation, dict) else None)
    form = walk.resolved(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/AcroForm"))
    walk.visit(form.get(b"/DR") if isinstance(form, dict) else None)
    return frozenset(walk.numbers)


class _Walk:
    """Go through everything that pages draw with, each object once."""

    def __init__(self, reader: PdfReader) -> None:
        self.numbers = set[int]()
        self._reader = reader
        self._left = _MOST_IN_ALL
        self._visited, self._read = set[tuple[Ref, bytes]](), set[Ref]()

    def resolved(self, value: Any) -> Any:
        if type(value) is Ref and value.number > LARGEST_NUMBER:  # some readers take only a part of it
            raise Unsafe("a reference to an object of too large a number")
        return self._reader.resolve(value)

    def draw(self, value: Any) -> None:
        """Read a stream, or a list of streams, whatever their dictionaries say."""
        found = self.resolved(value)
        for item in found if isinstance(found, list) else [value]:
            if type(item) is Ref and item not in self._read:
                self._read.add(item)
                self._read_stream(self.resolved(item))

    def visit(self, start: Any) -> None:
        """Read all streams below a value, except for images among the XObjects, font programs, and the profiles and
        palettes of colour spaces, which are not text."""
        waiting = [(start, b"")]  # each with its role: the last key, where that decides what is left out
        while waiting:
            value, role = waiting.pop()
            if type(value) is Ref:
                if (value, role) in self._visited:
                    continue
                self._visited.add((value, role))
                found = self.resolved(value)
                if isinstance(found, PdfStream):
                    if role == _COLOURS or (role == _AN_XOBJECT and found.dictionary.get(b"/Subtype") == b"/Image"):
                        continue
                    self.draw(value)
                value = found
            value = value.dictionary if isinstance(value, PdfStream) else value
            if isinstance(value, dict):
                glyphs = self.resolved(value.get(b"/CharProcs"))
                for glyph in glyphs.values() if isinstance(glyphs, dict) else ():
                    self.draw(glyph)
                left_out = _FONT_PROGRAMS if role == _FONT_DESCRIPTOR else ()
                otherwise = _AN_XOBJECT if role == _XOBJECTS else b""
                waiting += [
                    (item, key if key in (_XOBJECTS, _FONT_DESCRIPTOR) else otherwise)
                    for key, item in value.items()
                    if key not in left_out
                ]
            elif isinstance(value, list):
                of_colours = bool(value) and self.resolved(value[0]) in _COLOUR_SPACES
                waiting += [(item, _COLOURS if of_colours else b"") for item in value]

    def _read_stream(self, stream: Any) -> None:
        if not isinstance(stream, PdfStream):
            return
        try:
            text = unpacked(stream, min(_MOST_AT_ONCE, self._left))
        except (Unsafe, *CONFUSED):
            return
        self._left -= len(text)
        if _MAY_REFER.search(text):
            self.numbers.update(int(number) for number in _REFERENCE.findall(text))
