"""Small files that are expensive to read, draw or verify: each kind at a size that grows until it is refused."""

import io
import zlib
from collections.abc import Callable
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from tests.pdf.pdf_factory import Stream, made, paper, saved, text

_LINES = b"9000 9000 m 9001 9001 l S "


def _form(content: bytes, resources: Any = None) -> Stream:
    box = [0, 0, 595, 842]
    return Stream(content, Type=Name.XObject, Subtype=Name.Form, BBox=box, Resources=resources or {})


def forms(size: int, page: int = 1) -> bytes:
    """``size`` thousand lines, drawn by forms within forms."""
    inner = _form(_LINES * 10)
    for times in (10, 10, size):
        inner = _form(b"/X Do " * times, {"XObject": {"X": inner}})
    return paper(*[text("a", 50, 50)] * (page - 1), "/X Do", resources={"XObject": {"X": inner}})


def operators(size: int) -> bytes:
    return paper(_LINES * 1000 * size)


def pattern(size: int) -> bytes:
    """A page filled with tiles that get smaller as ``size`` grows."""
    step = 60 / size
    how = {"Type": Name.Pattern, "PatternType": 1, "PaintType": 1, "TilingType": 1, "Resources": {}}
    tile = Stream(b"0 0 1 rg 0 0 .1 .1 re f " * 20, BBox=[0, 0, step, step], XStep=step, YStep=step, **how)
    return paper("/Pattern cs /P scn 0 0 595 842 re f " * 20, resources={"Pattern": {"P": tile}})


def images(size: int) -> bytes:
    """One image of ``size`` million pixels, drawn a hundred times."""
    pixels = zlib.compress(b"\x80" * 1000 * 1000 * size)
    how = {"Type": Name.XObject, "Subtype": Name.Image, "Filter": Name.FlateDecode, "ColorSpace": Name.DeviceGray}
    image = Stream(pixels, Width=1000, Height=1000 * size, BitsPerComponent=8, **how)
    return paper("q 500 0 0 700 9 9 cm /X Do Q " * 100, resources={"XObject": {"X": image}})


def dashes(size: int) -> bytes:
    return paper(f"[.00{9 // min(size, 9)}1] 0 d " + "9 9 m 500 700 l S " * 10 * size)


def soft_masks(size: int) -> bytes:
    """Groups in groups, each with a soft mask as large as the page."""

    def prepare(document: pikepdf.Pdf) -> None:
        group = Dictionary(Type=Name.Group, S=Name.Transparency, CS=Name.DeviceGray)
        inner = made(document, _form(b"0 0 500 500 re f"))
        for _ in range(min(12, 2 * size)):
            inner.Group = group
            masked = {"SMask": {"Type": Name.Mask, "S": Name.Luminosity, "G": inner}}
            known = {"ExtGState": {"G": masked}, "XObject": {"X": inner}}
            inner = made(document, _form(b"/G gs /X Do /X Do", known))
        document.pages[0].obj.Resources = Dictionary(XObject=Dictionary(X=inner))

    return paper("/X Do", prepare=prepare)


def glyphs(size: int) -> bytes:
    """A font whose letters are drawings, each of many lines."""
    font = {
        "Type": Name.Font,
        "Subtype": Name.Type3,
        "FontBBox": [0, 0, 1, 1],
        "FontMatrix": [1, 0, 0, 1, 0, 0],
        "CharProcs": {"a": Stream(b"1 0 d0 " + _LINES * 500 * size)},
        "Encoding": {"Type": Name.Encoding, "Differences": [97, Name.a]},
        "FirstChar": 97,
        "LastChar": 97,
        "Widths": [1],
        "Resources": {},
    }
    return paper(f"BT /F1 9 Tf 9 9 Td ({'a' * 500}) Tj ET", resources={"Font": {"F1": font}})


def objects(size: int) -> bytes:
    """Objects that no page uses, in object streams."""
    document = pikepdf.new()
    document.add_blank_page(page_size=(595, 842))
    kept = [document.make_indirect(Dictionary(A=number, B=Array([1, 2, 3]))) for number in range(4000 * size)]
    document.Root.PieceInfo = Dictionary(Kept=Array(kept))
    return saved(document, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def pages(size: int) -> bytes:
    """Many pages below a long chain of page tree nodes."""
    document = pikepdf.new()
    for _ in range(min(500, 40 * size)):
        document.add_blank_page(page_size=(200, 200))
    tree = document.Root.Pages
    for _ in range(50 * size):
        node = document.make_indirect(Dictionary(Type=Name.Pages, Kids=tree.Kids, Count=tree.Count))
        for kid in tree.Kids:
            kid.Parent = node
        node.Parent, tree.Kids = tree, Array([node])
    return saved(document)


def revisions(size: int) -> bytes:
    """A chain of cross-reference tables, each of a revision that changes nothing."""
    content = paper(text("a", 50, 50), object_stream_mode=pikepdf.ObjectStreamMode.disable)
    with pikepdf.open(io.BytesIO(content)) as document:
        root, count = document.Root.objgen[0], int(document.trailer.Size)
    for _ in range(200 * size):
        previous = int(content.rpartition(b"startxref")[2].split()[0])
        start = len(content)
        trailer = b"<</Size %d/Root %d 0 R/Prev %d>>" % (count, root, previous)
        content += b"xref\n0 0\ntrailer\n%b\nstartxref\n%d\n%%%%EOF\n" % (trailer, start)
    return content


def links(size: int) -> bytes:
    """Thousands of annotations on one page."""
    link = {"Subtype": Name.Link, "Rect": [0, 0, 9, 9], "Border": [0, 0, 0]}
    return paper("", annotations=[link] * 1000 * size)


def form_fields(size: int) -> bytes:
    """Hundreds of form fields on one page, each with an appearance."""
    field = {"Subtype": Name.Widget, "FT": Name.Tx, "Rect": [0, 0, 9, 9], "AP": {"N": _form(b"0 0 1 1 re f")}}
    return paper("", annotations=[{**field, "T": f"field {number}"} for number in range(300 * size)])


_PAGES = (forms, operators, pattern, images, dashes, soft_masks, glyphs)
_FILES = (objects, pages, revisions, links, form_fields)
KINDS: dict[str, Callable[[int], bytes]] = {make.__name__: make for make in (*_PAGES, *_FILES)}
