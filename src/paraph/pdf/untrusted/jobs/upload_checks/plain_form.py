"""Whether all readers read a file alike, judged by what it is made of, and whether other readers see the same in it.

Every object of a plain file consists of tokens that are read alike; every object stands in one place; and all that
pages draw has entries of the kinds that it needs. What this does not allow is not plain, whatever a reader makes of it.
The second opinion compares what pages draw: their contents, what these name, and the appearances of annotations, each
object once, its text as qpdf writes it and its data byte by byte.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

import pikepdf
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.graphics_state import CLEAN
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Ref, Unsafe, serialized
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks import values
from paraph.pdf.untrusted.jobs.upload_checks.annotations import FIELD
from paraph.pdf.untrusted.jobs.upload_checks.drawn import Drawings
from paraph.pdf.untrusted.jobs.upload_checks.fonts import Remarks
from paraph.pdf.untrusted.jobs.upload_checks.values import Kinds, NotPlain, Tokens, check_entries

_INHERITED: Kinds = {
    **dict.fromkeys((b"/MediaBox", b"/CropBox"), values.is_box),
    b"/Rotate": lambda value: type(value) is int and value % 90 == 0,
    b"/Resources": values.is_dictionary,
}
_NODE: Kinds = {**_INHERITED, b"/Kids": values.is_array, b"/Count": values.is_natural}
_PAGE: Kinds = {
    **_INHERITED,
    b"/UserUnit": values.is_number,
    b"/Annots": values.is_array,
    b"/Group": values.is_dictionary,
}
_OF_PAGES = (b"/Contents", b"/Annots", b"/UserUnit", b"/Group", b"/BleedBox", b"/TrimBox", b"/ArtBox")
_OF_NODES = (b"/Kids", b"/Count")
_DEEPEST = 64
_KNOWN = frozenset(
    {
        "annotation_alpha", "bilevel", "blend_space", "colour_operands", "colour_space", "font_maps", "font_widths",
        "glyph_box", "glyph_codes", "glyph_names", "image", "image_alpha", "ink_overprint", "knockout",
        "password_field", "transfer_function",
    }
)  # fmt: skip
"""Remarks that are reported: for each, some reader draws something else, though two of them may agree."""


class PlainForm(NamedTuple):
    """What is known of a file in plain form. ``clean_contents``: the contents of every page leave nothing open and
    close nothing that they did not open, and nothing refers to an object beyond the last of the file; ``remarks``: what
    no rule decides on, by the indexes of pages."""

    clean_contents: bool
    remarks: dict[int, Remarks]

    @property
    def drawn_differently(self) -> list[int]:
        """The indexes of the pages that readers are known to draw differently."""
        return [index for index, found in self.remarks.items() if not found.isdisjoint(_KNOWN)]


def check_plain_form(reader: PdfReader, *, scanned: bool) -> PlainForm:
    """Raise NotPlain unless the file is in plain form. ``scanned``: the names of all objects, and the object streams,
    were checked by :func:`paraph.pdf.untrusted.jobs.upload_checks.fast_scan.fast_scan`."""
    try:
        tokens = Tokens()
        if not scanned:
            _check_objects(reader, tokens)
        for _, value in drawn_objects(reader):
            tokens.check(value)
        return _check_pages(reader, tokens)
    except (Unsafe, *CONFUSED) as error:
        raise NotPlain(f"an object is odd: {error}") from error


def _check_objects(reader: PdfReader, tokens: Tokens) -> None:
    reader.check_packing()
    encryption = reader.trailer.get(b"/Encrypt")
    for number in range(reader.crossreference.next_number):
        entry = reader.crossreference.entry(number)
        if entry is not None:
            ref = Ref(number, 0 if entry.packed else entry.index)
            value = reader.object(ref)
            if ref != encryption:
                tokens.check(value)


def _check_pages(reader: PdfReader, tokens: Tokens) -> PlainForm:
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    drawings, remarks, clean = Drawings(reader), dict[int, Remarks](), True
    waiting: list[tuple[Any, Any, Any, int]] = [(root.get(b"/Pages"), None, None, 0)]
    index = 0
    while waiting:
        ref, parent, resources, depth = waiting.pop()
        node = reader.dictionary(ref)
        if node.get(b"/Parent") != parent or depth > _DEEPEST:
            raise NotPlain("a page names another parent than its own")
        if reader.resolve(node.get(b"/Type")) == b"/Pages":
            if any(key in node for key in _OF_PAGES):
                raise NotPlain("a node of the page tree has entries of pages")
            check_entries("the page tree", node, _NODE, reader.resolve)
            resources = node.get(b"/Resources", resources)
            waiting += [(kid, ref, resources, depth + 1) for kid in reversed(reader.resolve(node[b"/Kids"]))]
            continue
        if any(key in node for key in _OF_NODES):
            raise NotPlain("a page has entries of the page tree")
        check_entries("a page", node, _PAGE, reader.resolve)
        ending, found = drawings.page(node, node.get(b"/Resources", resources))
        clean = clean and ending == CLEAN
        if found:
            remarks[index] = found
        index += 1
    _check_form(reader, root, tokens)
    return PlainForm(clean and not Revision(reader).leaves_numbers_out, remarks)


def _check_form(reader: PdfReader, root: Dictionary, tokens: Tokens) -> None:
    """Check the tree of form fields."""
    form = reader.resolve(root.get(b"/AcroForm", {}))
    tokens.check(form)
    waiting: list[tuple[Any, Any]] = [(field, None) for field in reader.resolve(form.get(b"/Fields", []))]
    seen = set[Ref]()
    while waiting:
        ref, parent = waiting.pop()
        if type(ref) is not Ref or ref in seen:
            raise NotPlain("a form lists a field twice, or holds it directly")
        seen.add(ref)
        field = reader.dictionary(ref)
        tokens.check(field)
        check_entries("a form field", field, FIELD, reader.resolve)
        if field.get(b"/Parent") != parent:
            raise NotPlain("a form field names another parent than its own")
        waiting += [(kid, ref) for kid in reader.resolve(field.get(b"/Kids", []))]


_REFERENCE = re.compile(rb"(?<![^\x00\t\n\x0c\r ()<>\[\]{}/%])(\d+) (\d+) R(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])")
_FONTS = frozenset({b"/Type0", b"/Type1", b"/MMType1", b"/TrueType", b"/Type3"})
_TAIL = 1024
_USUAL_END = re.compile(rb"startxref[ \t]*(?:\r\n|\n|\r)\d+[ \t]*(?:\r\n|\n|\r)%%EOF[\x00\t\n\x0c\r ]*\Z")
_HOLDING = frozenset({Ref, dict, list})
_LEADS_ELSEWHERE = frozenset(b"/Parent /P /Popup /IRT /A /AA /Dest /Pg /StructParent /Metadata /V /PieceInfo".split())
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
    """Return whether an object is no page, or one to whose resources a seal can add its own."""
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
    """Compare objects as qpdf writes them, with references as strings, since it parses no text with references."""
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
        return b"[ %b ]" % b" ".join([item if type(item) is bytes else _as_qpdf_writes(item) for item in value])
    return b"%d" % value if kind is int else serialized(value)


def drawn_objects(reader: PdfReader) -> Iterator[tuple[Ref, Any]]:
    """Yield what pages draw, and the objects that lead there, each once."""
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
