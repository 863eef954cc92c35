"""Small files that are expensive to read, draw or verify: each kind at a size that grows until it is refused."""

import io
import zlib
from collections.abc import Callable

import pikepdf
from pikepdf import Array, Dictionary, Name

from tests.pdf.pdf_factory import paper, saved, text

_LINES = b"9000 9000 m 9001 9001 l S "


def _form(document: pikepdf.Pdf, content: bytes, resources: dict[str, Dictionary] | None = None) -> pikepdf.Object:
    box, known = Array([0, 0, 595, 842]), Dictionary(resources)
    return document.make_stream(content, Type=Name.XObject, Subtype=Name.Form, BBox=box, Resources=known)


def forms(size: int, page: int = 1) -> bytes:
    """``size`` thousand lines, drawn by forms within forms."""

    def prepare(document: pikepdf.Pdf) -> None:
        inner = _form(document, _LINES * 10)
        for times in (10, 10, size):
            inner = _form(document, b"/X Do " * times, {"/XObject": Dictionary(X=inner)})
        document.pages[-1].obj.Resources = Dictionary(XObject=Dictionary(X=inner))

    return paper(*[text("a", 50, 50)] * (page - 1), "/X Do", prepare=prepare)


def operators(size: int) -> bytes:
    return paper((_LINES * 1000 * size).decode())


def pattern(size: int) -> bytes:
    """A page filled with tiles that get smaller as ``size`` grows."""
    step = 60 / size

    def prepare(document: pikepdf.Pdf) -> None:
        tile = document.make_stream(
            b"0 0 1 rg 0 0 .1 .1 re f " * 20,
            Type=Name.Pattern,
            PatternType=1,
            PaintType=1,
            TilingType=1,
            BBox=Array([0, 0, step, step]),
            XStep=step,
            YStep=step,
            Resources=Dictionary(),
        )
        document.pages[0].obj.Resources = Dictionary(Pattern=Dictionary(P=tile))

    return paper("/Pattern cs /P scn 0 0 595 842 re f " * 20, prepare=prepare)


def images(size: int) -> bytes:
    """One image of ``size`` million pixels, drawn a hundred times."""

    def prepare(document: pikepdf.Pdf) -> None:
        pixels = zlib.compress(b"\x80" * 1000 * 1000 * size)
        image = pikepdf.Stream(document, pixels, Filter=Name.FlateDecode)
        for key, value in {"Width": 1000, "Height": 1000 * size, "BitsPerComponent": 8}.items():
            image[f"/{key}"] = value
        image.Type, image.Subtype, image.ColorSpace = Name.XObject, Name.Image, Name.DeviceGray
        document.pages[0].obj.Resources = Dictionary(XObject=Dictionary(X=document.make_indirect(image)))

    return paper("q 500 0 0 700 9 9 cm /X Do Q " * 100, prepare=prepare)


def dashes(size: int) -> bytes:
    return paper(f"[.00{9 // min(size, 9)}1] 0 d " + "9 9 m 500 700 l S " * 10 * size)


def soft_masks(size: int) -> bytes:
    """Groups in groups, each with a soft mask as large as the page."""

    def prepare(document: pikepdf.Pdf) -> None:
        group = Dictionary(Type=Name.Group, S=Name.Transparency, CS=Name.DeviceGray)
        inner = _form(document, b"0 0 500 500 re f")
        for _ in range(min(12, 2 * size)):
            inner.Group = group
            masked = Dictionary(SMask=Dictionary(Type=Name.Mask, S=Name.Luminosity, G=inner))
            states, forms_ = Dictionary(G=masked), Dictionary(X=inner)
            inner = _form(document, b"/G gs /X Do /X Do", {"/ExtGState": states, "/XObject": forms_})
        document.pages[0].obj.Resources = Dictionary(XObject=Dictionary(X=inner))

    return paper("/X Do", prepare=prepare)


def glyphs(size: int) -> bytes:
    """A font whose letters are drawings, each of many lines."""

    def prepare(document: pikepdf.Pdf) -> None:
        letter = document.make_stream(b"1 0 d0 " + _LINES * 500 * size)
        font = Dictionary(
            Type=Name.Font,
            Subtype=Name.Type3,
            FontBBox=Array([0, 0, 1, 1]),
            FontMatrix=Array([1, 0, 0, 1, 0, 0]),
            CharProcs=Dictionary(a=letter),
            Encoding=Dictionary(Type=Name.Encoding, Differences=Array([97, Name.a])),
            FirstChar=97,
            LastChar=97,
            Widths=Array([1]),
            Resources=Dictionary(),
        )
        document.pages[0].obj.Resources = Dictionary(Font=Dictionary(F1=document.make_indirect(font)))

    return paper(f"BT /F1 9 Tf 9 9 Td ({'a' * 500}) Tj ET", prepare=prepare)


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
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(595, 842))
    box = Array([0, 0, 9, 9])
    page.obj.Annots = Array(
        [
            document.make_indirect(Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=box, Border=Array([0, 0, 0])))
            for _ in range(1000 * size)
        ]
    )
    return saved(document)


def form_fields(size: int) -> bytes:
    """Hundreds of form fields on one page, each with an appearance."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(595, 842))
    box = Array([0, 0, 9, 9])
    fields = [
        document.make_indirect(
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.Widget,
                FT=Name.Tx,
                T=f"field {number}",
                Rect=box,
                AP=Dictionary(N=_form(document, b"0 0 1 1 re f")),
            )
        )
        for number in range(300 * size)
    ]
    page.obj.Annots, document.Root.AcroForm = Array(fields), Dictionary(Fields=Array(fields))
    return saved(document)


KINDS: dict[str, Callable[[int], bytes]] = {
    make.__name__: make
    for make in (
        forms,
        operators,
        pattern,
        images,
        dashes,
        soft_masks,
        glyphs,
        objects,
        pages,
        revisions,
        links,
        form_fields,
    )
}
