"""Whether all readers read a file alike, told by what it is made of and not by what they make of it.

Every object of the file consists of tokens that are read alike; every object stands in one place; and all that pages
draw has entries of the kinds that it needs. What this does not allow is not plain, whatever a reader makes of it.
"""

from typing import Any, NamedTuple

from paraph.pdf.structure.graphics_state import CLEAN
from paraph.pdf.structure.objects import CONFUSED, Dictionary, Ref, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import values
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.annotations import FIELD
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.drawn import Drawings
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.fonts import Remarks
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import Kinds, NotPlain, Tokens, check_entries
from paraph.pdf.untrusted.jobs.upload_checks.second_opinion import drawn_objects

_INHERITED: Kinds = {
    b"/MediaBox": values.is_box,
    b"/CropBox": values.is_box,
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
        "annotation_alpha",
        "bilevel",
        "blend_space",
        "colour_operands",
        "colour_space",
        "font_maps",
        "font_widths",
        "glyph_box",
        "glyph_codes",
        "glyph_names",
        "image",
        "image_alpha",
        "ink_overprint",
        "knockout",
        "password_field",
        "transfer_function",
    }
)
"""Remarks that are told: of each, some reader draws something else though two of them may agree."""


class PlainForm(NamedTuple):
    """What is known of a file in plain form. ``clean_contents``: the contents of every page leave nothing open and
    close nothing that they did not open, and nothing refers to an object beyond the last of the file; ``remarks``: what
    of pages no rule decides on, by their indexes."""

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
    top = root.get(b"/Pages")
    waiting: list[tuple[Any, Any, Any, int]] = [(top, None, None, 0)]
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
            kids = reader.resolve(node[b"/Kids"])
            waiting += [(kid, ref, resources, depth + 1) for kid in reversed(kids)]
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
    fields = reader.resolve(form.get(b"/Fields", []))
    waiting: list[tuple[Any, Any]] = [(field, None) for field in fields]
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
