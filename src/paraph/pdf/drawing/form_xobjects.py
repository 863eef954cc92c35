"""Form XObjects imported from the pages of another PDF; objects that pages share are imported once."""

import re
from dataclasses import dataclass
from typing import Any

from paraph.pdf.structure.geometry import PageGeometry
from paraph.pdf.structure.objects import REGULAR, SPACE, Dictionary, PdfStream, Raw, Ref, Unsafe
from paraph.pdf.structure.pages import PageNode, geometry_of, pages
from paraph.pdf.structure.reader import PdfReader, decoded
from paraph.pdf.structure.revision import Revision

_LEFT_BEHIND = frozenset({b"/StructParents", b"/StructParent", b"/Parent", b"/Metadata", b"/PieceInfo"})
# Texts that must be parsed to be copied: streams, strings, comments, escaped names.
_INTRICATE = re.compile(rb"stream|[%#\\]|\([^()]*[(R]|" + b"|".join(_LEFT_BEHIND))
_REFERENCE = re.compile(rb"(?<!" + REGULAR + rb")(\d+)[" + SPACE + rb"]+(\d+)[" + SPACE + rb"]+R(?!" + REGULAR + rb")")


@dataclass(frozen=True)
class FormXObject:
    """A form XObject that shows one page, with the geometry of that page."""

    ref: Ref
    geometry: PageGeometry


class FormXObjects:
    """The pages of ``source``, imported into ``revision`` on first use."""

    def __init__(self, source: PdfReader, revision: Revision) -> None:
        self._source = source
        self._revision = revision
        self._pages = list(pages(source))
        self._forms: dict[int, FormXObject] = {}
        self._copies: dict[Ref, Ref] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def form(self, index: int) -> FormXObject:
        if index not in self._forms:
            page = self._pages[index]
            geometry = geometry_of(self._source, page)
            self._forms[index] = FormXObject(self._import(page, geometry), geometry)
        return self._forms[index]

    def _import(self, page: PageNode, geometry: PageGeometry) -> Ref:
        drawn = self._contents(page)
        entries: Dictionary = {
            b"/Type": b"/XObject",
            b"/Subtype": b"/Form",
            b"/BBox": [float(edge) for edge in geometry.visible],
            b"/Resources": self._copy(self._source.resolve(page.get(b"/Resources")) or {}),
        }
        group = page.dictionary.get(b"/Group")
        if group is not None:
            entries[b"/Group"] = self._copy(group)
        entries.update({key: drawn.dictionary[key] for key in (b"/Filter", b"/DecodeParms") if key in drawn.dictionary})
        return self._revision.stream(drawn.data, entries)

    def _contents(self, page: PageNode) -> PdfStream:
        """Return the contents as one stream: a single one as stored, several joined."""
        contents = self._source.resolve(page.dictionary.get(b"/Contents"))
        parts = [self._source.resolve(item) for item in contents] if isinstance(contents, list) else [contents]
        streams = [part for part in parts if isinstance(part, PdfStream)]
        if len(streams) == 1:
            return streams[0]
        return PdfStream({}, b"\n".join(decoded(stream) for stream in streams))

    def _copy(self, value: Any) -> Any:
        kind = type(value)
        if kind is bytes or kind is int:
            return value
        if kind is Ref:
            return self._copied_object(value)
        if kind is dict:
            return {key: self._copy(item) for key, item in value.items() if key not in _LEFT_BEHIND}
        if kind is list:
            return [self._copy(item) for item in value]
        return value

    def _copied_object(self, ref: Ref) -> Ref:
        if ref not in self._copies:
            self._copies[ref] = self._revision.reserve()
            text = self._source.text_of(ref)
            plain = text and not _INTRICATE.search(text)
            self._revision.put(self._copies[ref], self._copied_text(text) if plain else self._copied_value(ref))
        return self._copies[ref]

    def _copied_text(self, text: bytes) -> Raw:
        """Copy an object as text with its references replaced, which needs no parsing."""

        def copied(reference: re.Match[bytes]) -> bytes:
            return b"%d %d R" % self._copied_object(Ref(int(reference[1]), int(reference[2])))

        return Raw(_REFERENCE.sub(copied, text.strip()))

    def _copied_value(self, ref: Ref) -> Any:
        value = self._source.object(ref)
        if not isinstance(value, PdfStream):
            return self._copy(value)
        # An opaque drawing looks the same without its isolated group, and PDF/A-1 forbids transparency groups.
        entries = {key: item for key, item in value.dictionary.items() if key not in (b"/Length", b"/Group")}
        return PdfStream(self._copy(entries), value.data)


def open_form_xobjects(source: PdfReader, revision: Revision, needed: int) -> FormXObjects:
    """Open the pages of ``source`` for import. Raise :class:`Unsafe` if it has fewer than ``needed``."""
    forms = FormXObjects(source, revision)
    if len(forms) < needed:
        raise Unsafe("the appearances have too few pages")
    return forms
