"""Whether other readers see the same pages in a file as our own reader, on which sealing relies.

Pages are compared by what they draw: their contents, what these name, and the appearances of annotations. Each of these
objects is compared once, its text as qpdf writes it and its data byte by byte.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pikepdf
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.objects import CONFUSED, PdfStream, Ref, Unsafe, serialized
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile

_REFERENCE = re.compile(rb"(?<![^\x00\t\n\x0c\r ()<>\[\]{}/%])(\d+) (\d+) R(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])")
_FONTS = frozenset({b"/Type0", b"/Type1", b"/MMType1", b"/TrueType", b"/Type3"})
_TAIL = 1024
_USUAL_END = re.compile(rb"startxref[ \t]*(?:\r\n|\n|\r)\d+[ \t]*(?:\r\n|\n|\r)%%EOF[\x00\t\n\x0c\r ]*\Z")
_HOLDING = frozenset({Ref, dict, list})
_LEADS_ELSEWHERE = frozenset(
    {
        b"/Parent",
        b"/P",
        b"/Popup",
        b"/IRT",
        b"/A",
        b"/AA",
        b"/Dest",
        b"/Pg",
        b"/StructParent",
        b"/Metadata",
        b"/V",
        b"/PieceInfo",
    }
)
_OF_A_PAGE = (b"/Contents", b"/Resources", b"/Annots", b"/Kids")


class Opinion(Enum):
    """How other readers' view of a file compares with ours."""

    SAME = "all go by the same cross-reference and find the same"
    ODD = "qpdf does not read the file, or finds the same, but the end or the resources are of an unusual kind"
    OTHER = "qpdf finds something else"


def second_opinion(reader: PdfReader, file: UntrustedFile) -> Opinion:
    """Compare ``reader``, our reader of a file in plain form, with qpdf and PDFium."""
    try:
        document = file.pikepdf()
        if not file.read_by_qpdf:
            return Opinion.ODD
        root, usual = reader.trailer.get(b"/Root"), _USUAL_END.search(reader.data[-_TAIL:]) is not None
        if type(root) is not Ref or document.Root.objgen != root:
            return Opinion.OTHER
        for ref, value in drawn_objects(reader):
            if not _same(value, document.get_object(ref)):
                return Opinion.OTHER
            usual = usual and _can_be_extended(value, reader)
    except PdfRefused:
        return Opinion.ODD
    except (Unsafe, pikepdf.PikepdfError, RuntimeError, *CONFUSED):
        return Opinion.OTHER
    # readers differ about other ends, for which PDFium has to search
    return Opinion.SAME if usual and raw.FPDF_DocumentHasValidCrossReferenceTable(file.pdfium()) else Opinion.ODD


def _can_be_extended(value: Any, reader: PdfReader) -> bool:
    """Return whether an object is a page to whose resources a seal can add its own, or none."""
    resources = reader.resolve(value.get(b"/Resources")) if isinstance(value, dict) else None
    if not isinstance(resources, dict) or value.get(b"/Type") != b"/Page":
        return True
    objects, fonts = reader.resolve(resources.get(b"/XObject")), reader.resolve(resources.get(b"/Font"))
    if not isinstance(objects, dict | None) or not isinstance(fonts, dict | None):
        return False
    found = map(reader.resolve, (fonts or {}).values())
    return all(isinstance(font, dict) and font.get(b"/Subtype") in _FONTS for font in found)


def _same(ours: Any, theirs: Any) -> bool:
    if not isinstance(ours, PdfStream):
        return _same_text(ours, theirs)
    if not isinstance(theirs, pikepdf.Stream) or bytes(theirs.get_raw_stream_buffer()) != ours.data:
        return False
    return _same_text(ours.dictionary, theirs.stream_dict)


def _same_text(ours: Any, theirs: Any) -> bool:
    """Compare the objects as qpdf writes them. References become strings first, since qpdf parses no text that has
    some."""
    if isinstance(theirs, pikepdf.Object):
        text = theirs.unparse(resolved=True)
        if text == _as_qpdf_writes(ours):  # nearly always, and without parsing
            return True
        parsed = pikepdf.Object.parse(_REFERENCE.sub(rb"(\1 \2 R)", serialized(ours)))
        return isinstance(parsed, pikepdf.Object) and bool(parsed.unparse() == _REFERENCE.sub(rb"(\1 \2 R)", text))
    parsed = pikepdf.Object.parse(serialized(ours))
    return type(parsed) is type(theirs) and bool(parsed == theirs)


def _as_qpdf_writes(value: Any) -> bytes:
    kind = type(value)
    if kind is dict:
        return b"<< %b >>" % b" ".join([key + b" " + _as_qpdf_writes(value[key]) for key in sorted(value)])
    if kind is list:  # mostly long lists of numbers
        items = [item if type(item) is bytes else _as_qpdf_writes(item) for item in value]
        return b"[ %b ]" % b" ".join(items)
    return b"%d" % value if kind is int else serialized(value)


def drawn_objects(reader: PdfReader) -> Iterator[tuple[Ref, Any]]:
    """Yield the objects that lead to what pages draw, and these, each once."""
    waiting, seen = [reader.trailer[b"/Root"]], set[Ref]()
    while waiting:
        ref = waiting.pop()
        if ref not in seen:
            seen.add(ref)
            value = reader.object(ref)
            yield ref, value
            waiting += _drawn_with(value)


def _drawn_with(value: Any) -> Iterator[Ref]:
    if isinstance(value, dict) and value.get(b"/Type") == b"/Catalog":
        yield from _references([value.get(b"/Pages"), value.get(b"/OCProperties")])
    elif isinstance(value, dict) and (b"/Kids" in value or value.get(b"/Type") == b"/Page"):
        for key in _OF_A_PAGE:
            yield from _references(value.get(key))
    else:
        yield from _references(value.dictionary if isinstance(value, PdfStream) else value)


def _references(value: Any) -> Iterator[Ref]:
    if type(value) is Ref:
        yield value
    elif type(value) is dict:
        for key, item in value.items():
            if type(item) in _HOLDING and key not in _LEADS_ELSEWHERE:
                yield from _references(item)
    elif type(value) is list:
        for item in value:
            if type(item) in _HOLDING:
                yield from _references(item)
