"""Unclosed layers (ISO 32000-1, 8.11): in some viewers a hidden one hides everything drawn after it.

Poppler, Ghostscript and MuPDF carry marked content that a form, glyph, pattern or appearance leaves open over to what
is drawn next, annotations included.
"""

from collections.abc import Iterator
from typing import Any

from paraph.pdf.structure.contents_decoder import ContentsDecoder
from paraph.pdf.structure.graphics_state import ending
from paraph.pdf.structure.objects import PdfStream, Ref
from paraph.pdf.structure.pages import PageNode, pages
from paraph.pdf.structure.revision import Revision

_ELSEWHERE = frozenset(
    {b"/Contents", b"/Parent", b"/P", b"/Popup", b"/Dest", b"/A", b"/AA", b"/B", b"/IRT", b"/Metadata"}
)


def may_leave_layers_open(revision: Revision) -> bool:
    """Whether the file has layers and something that its pages draw leaves, or may leave, marked content open."""
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
    """Whether these streams, read in sequence, leave or may leave marked content open."""
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
