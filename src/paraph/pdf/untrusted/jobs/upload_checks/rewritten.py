"""A file written anew in plain form, as PDFium understands it. A dry run tells whether it still looks the same."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from paraph.pdf.structure.contents_grammar import PAINTING
from paraph.pdf.structure.normalise import UnreadablePdf, opened, saved
from paraph.pdf.structure.objects import CONFUSED
from paraph.pdf.untrusted.jobs.upload_checks.contents import CATEGORIES
from paraph.pdf.untrusted.jobs.upload_checks.values import ABBREVIATED

_INHERITED = ("/MediaBox", "/CropBox", "/Rotate", "/Resources")
_BOXES = ("/MediaBox", "/CropBox", "/BleedBox", "/TrimBox", "/ArtBox")
_FILTERS = {
    "/Fl": Name.FlateDecode,
    "/LZW": Name.LZWDecode,
    "/AHx": Name.ASCIIHexDecode,
    "/A85": Name.ASCII85Decode,
    "/RL": Name.RunLengthDecode,
    "/CCF": Name.CCITTFaxDecode,
    "/DCT": Name.DCTDecode,
}
_CODES = 256
_DEEPEST = 20
_NUMBER, _NAME, _TEXT, _LIST, _DASHES, _ANY = "number", "name", "text", "list", "dashes", "any"
_OPERANDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["q", "Q", "BT", "ET", "EMC", "T*", "BX", "EX", "h", "W", "W*"], ()),
    **dict.fromkeys([each.decode() for each in PAINTING], ()),
    **dict.fromkeys(["g", "G", "w", "J", "j", "M", "i", "Tc", "Tw", "Tz", "TL", "Ts", "Tr"], (_NUMBER,)),
    **dict.fromkeys(["m", "l", "Td", "TD", "d0"], (_NUMBER,) * 2),
    **dict.fromkeys(["rg", "RG"], (_NUMBER,) * 3),
    **dict.fromkeys(["k", "K", "re", "v", "y"], (_NUMBER,) * 4),
    **dict.fromkeys(["cm", "Tm", "c", "d1"], (_NUMBER,) * 6),
    **dict.fromkeys(["gs", "Do", "sh", "cs", "CS", "ri", "BMC", "MP"], (_NAME,)),
    **dict.fromkeys(["BDC", "DP"], (_NAME, _ANY)),
    **dict.fromkeys(["Tj", "'"], (_TEXT,)),
    "Tf": (_NAME, _NUMBER),
    "TJ": (_LIST,),
    '"': (_NUMBER, _NUMBER, _TEXT),
    "d": (_DASHES, _NUMBER),
}
"""The operands that operators need; readers agree to ignore any before these (ISO 32000-1, annex A)."""
_COLOURS = frozenset({"sc", "SC", "scn", "SCN"})
_SPACES = frozenset({"/DeviceGray", "/DeviceRGB", "/DeviceCMYK", "/Pattern"})
_OF_GLYPHS = ("d0", "d1")
_ZEROS = (".", "-")
"""Tokens that qpdf takes for operators; readers agree that they are numbers."""


def rewritten(pdf: bytes) -> bytes:
    """Return the document written anew. Raise :class:`~paraph.pdf.structure.normalise.UnreadablePdf`."""
    try:
        with opened(pdf) as document:
            _pages(document)
            for item in document.objects:
                _object(item)
            _fields(document)
            _Contents(document).write()
            return saved(document)
    except (pikepdf.PikepdfError, RuntimeError, AssertionError, *CONFUSED) as error:
        raise UnreadablePdf("The PDF is damaged beyond repair.") from error


def _pages(document: pikepdf.Pdf) -> None:
    """Put all pages below one node, with what they inherited from the nodes that list them."""
    found = list(_listed(document.Root.Pages, {}, 0))
    node = document.make_indirect(Dictionary(Type=Name.Pages, Kids=Array(), Count=len(found)))
    for page, inherited in found:
        for key, value in inherited.items():
            if key not in page:
                page[key] = value
        page.Type, page.Parent = Name.Page, node
        _page(page)
        node.Kids.append(page)
    document.Root.Pages = node


def _listed(node: Any, inherited: dict[str, Any], depth: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    kids = node.get("/Kids")
    if not isinstance(kids, Array) or depth > _DEEPEST:
        yield node, inherited
        return
    inherited = {**inherited, **{key: node[key] for key in _INHERITED if key in node}}
    for kid in list(kids):
        yield from _listed(kid, inherited, depth + 1)


def _page(page: Any) -> None:
    for key in ("/Kids", "/Count", *_BOXES):
        if key in page and not (key in _BOXES and _is_box(page[key])):
            del page[key]
    contents = page.get("/Contents")
    if isinstance(contents, Array):
        page.Contents = Array([each for each in contents if isinstance(each, pikepdf.Stream)])
    elif contents is not None and not isinstance(contents, pikepdf.Stream):
        del page["/Contents"]
    if "/Annots" in page:
        listed: Any = page.Annots if isinstance(page.Annots, Array) else []
        kinds = [each for each in listed if isinstance(each, Dictionary) and isinstance(each.get("/Subtype"), Name)]
        page.Annots = Array([each for each in kinds if _is_box(each.get("/Rect"))])


def _is_box(value: Any) -> bool:
    return isinstance(value, Array) and len(value) == 4 and all(_is(each, _NUMBER) for each in value)


def _object(item: Any) -> None:
    if isinstance(item, pikepdf.Stream):
        kind = item.get("/Type")
        for key in ABBREVIATED if kind not in (Name.XRef, Name.ObjStm) else ():
            if key.decode() in item:
                del item[key.decode()]
        _filters(item)
    elif isinstance(item, Dictionary):
        if isinstance(item.get("/Rect"), Array) and _is_box(item.Rect):
            item.Rect = Array(list(item.Rect))  # in place of references to numbers
        if item.get("/Type") == Name.Font or "/BaseFont" in item:
            _font(item)


def _filters(stream: Any) -> None:
    filters = stream.get("/Filter")
    if isinstance(filters, Name) and str(filters) in _FILTERS:
        stream.Filter = _FILTERS[str(filters)]
    elif isinstance(filters, Array):
        stream.Filter = Array([_FILTERS.get(str(each), each) for each in filters])


def _font(font: Any) -> None:
    widths, first, last = font.get("/Widths"), font.get("/FirstChar"), font.get("/LastChar")
    if isinstance(widths, Array) and isinstance(first, int) and isinstance(last, int):
        count = max(min(last, _CODES - 1) - first + 1, 0)
        font.LastChar = first + count - 1
        font.Widths = Array([*widths][:count] + [0] * (count - len(widths)))
    if font.get("/Subtype") == Name.CIDFontType0 and "/CIDToGIDMap" in font:
        del font["/CIDToGIDMap"]
    encoding: Any = font.get("/Encoding")
    if isinstance(encoding, Dictionary) and isinstance(encoding.get("/Differences"), Array):
        encoding.Differences = _differences(encoding.Differences)


def _differences(listed: Any) -> Array:
    names, code = dict[int, Any](), 0
    for item in listed:
        if isinstance(item, Name):
            names[code] = item
            code += 1
        elif isinstance(item, int):
            code = item
    plain: list[Any] = []
    for code, name in sorted(names.items()):
        if 0 <= code < _CODES:
            plain += [name] if code - 1 in names and plain else [code, name]
    return Array(plain)


def _fields(document: pikepdf.Pdf) -> None:
    form: Any = document.Root.get("/AcroForm")
    fields = form.get("/Fields") if isinstance(form, Dictionary) else None
    if not isinstance(fields, Array):
        return
    form.Fields = Array([each for each in fields if isinstance(each, Dictionary)])
    waiting, seen = list(form.Fields), set[tuple[int, int]]()
    while waiting:
        field = waiting.pop()
        kids = field.get("/Kids")
        if field.objgen in seen or not isinstance(kids, Array):
            continue
        seen.add(field.objgen)
        for kid in kids:
            if isinstance(kid, Dictionary):
                kid.Parent = field
                waiting.append(kid)


class _Contents:
    """Contents to be written anew, with only the operations that readers follow alike."""

    def __init__(self, document: pikepdf.Pdf) -> None:
        self._document = document
        self._seen: set[tuple[int, int]] = set()

    def write(self) -> None:
        for page in self._document.pages:
            owner = page.obj
            if not isinstance(owner.get("/Resources"), Dictionary):
                owner.Resources = Dictionary()
            kept = self._kept(page, owner.Resources)
            owner.Contents = self._document.make_stream(pikepdf.unparse_content_stream(kept) or b"\n")
            self._drawn(owner.Resources, 0)
            for annotation in owner.get("/Annots", []):
                for look in _looks(annotation):
                    self._form(look, owner.Resources, 0)

    def _drawn(self, resources: Any, depth: int) -> None:
        for category in ("/XObject", "/Pattern"):
            for value in _values(resources.get(category)):
                if isinstance(value, pikepdf.Stream) and value.get("/Subtype") != Name.Image:
                    self._form(value, resources, depth)
        for font in _values(resources.get("/Font")):
            if isinstance(font, Dictionary) and font.get("/Subtype") == Name.Type3:
                for glyph in _values(font.get("/CharProcs")):
                    self._form(glyph, font.get("/Resources", resources), depth, own=False)

    def _form(self, form: Any, around: Any, depth: int, *, own: bool = True) -> None:
        if not isinstance(form, pikepdf.Stream) or form.objgen in self._seen or depth > _DEEPEST:
            return
        self._seen.add(form.objgen)
        if own and not isinstance(form.get("/Resources"), Dictionary):
            form.Resources = around
        resources = form.Resources if own else around
        kept = self._kept(form, resources)
        if not own and not (kept and str(kept[0].operator) in _OF_GLYPHS):
            kept.insert(0, pikepdf.ContentStreamInstruction([0, 0], pikepdf.Operator("d0")))
        form.write(pikepdf.unparse_content_stream(kept) or b"\n")
        self._drawn(resources, depth + 1)

    def _kept(self, owner: Any, resources: Any) -> list[Any]:
        """Return the operations that have what they need; add the font that PDFium takes in place of a missing one."""
        kept: list[Any] = []
        depth, zeros = 0, list[Any]()
        for instruction in pikepdf.parse_content_stream(owner):
            operator = instruction.operator.unparse().decode("latin-1")
            if operator == "INLINE IMAGE":
                kept.append(instruction)
                continue
            operands = [*zeros, *instruction.operands]
            zeros = [*operands, 0] if operator in _ZEROS else []
            needed = _needed(operator, operands)
            if needed is None or len(operands) < len(needed) or (operator == "Q" and not depth):
                continue
            operands = operands[len(operands) - len(needed) :]
            if not all(map(_is, operands, needed)):
                continue
            if operator == "Tf":
                self._require_font(resources, operands[0])
            elif not _is_there(resources, operator, operands):
                continue
            depth += (operator == "q") - (operator == "Q")
            kept.append(pikepdf.ContentStreamInstruction(operands, instruction.operator))
        return kept

    def _require_font(self, resources: Any, name: Any) -> None:
        if not isinstance(resources.get("/Font"), Dictionary):
            resources.Font = Dictionary()
        if not isinstance(resources.Font.get(str(name)), Dictionary):
            resources.Font[str(name)] = Dictionary(
                Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding
            )


def _values(table: Any) -> Iterable[Any]:
    return [value for _, value in table.items()] if isinstance(table, Dictionary) else []


def _looks(annotation: Any) -> Iterator[Any]:
    for value in _values(annotation.get("/AP")):
        yield from _values(value) if not isinstance(value, pikepdf.Stream) else [value]


def _needed(operator: str, operands: list[Any]) -> tuple[str, ...] | None:
    if operator in _COLOURS:
        named = bool(operands) and isinstance(operands[-1], Name)
        return (_NUMBER,) * (len(operands) - named) + ((_NAME,) if named else ())
    return _OPERANDS.get(operator)


def _is(operand: Any, kind: str) -> bool:
    if kind == _NUMBER:
        return isinstance(operand, int | Decimal) and not isinstance(operand, bool)
    if kind == _DASHES:
        return isinstance(operand, Array) and all(_is(each, _NUMBER) for each in operand)
    kinds = {_NAME: Name, _TEXT: pikepdf.String, _LIST: Array, _ANY: object}
    return isinstance(operand, kinds[kind])


def _is_there(resources: Any, operator: str, operands: list[Any]) -> bool:
    """Return whether the resources have what an operation names."""
    category = CATEGORIES.get(operator.encode("latin-1"))
    if category is None or not operands or not isinstance(operands[-1], Name):
        return True
    if category == b"/ColorSpace" and str(operands[-1]) in _SPACES:
        return True
    table = resources.get(category.decode())
    return isinstance(table, Dictionary) and str(operands[-1]) in table
