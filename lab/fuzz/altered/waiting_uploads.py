"""Uploads prepared to be altered once they are sealed: they show nothing odd until an update is appended."""

import io
from collections.abc import Callable
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from tests.pdf.pdf_factory import paper, text

OF_A_PAGE = "of a page"
WRAPPING = "with a number of more than 32 bits"
MISSING = {
    OF_A_PAGE: b"%d 0 R",
    "plain": b"%d 0 R",
    "with a sign": b"+%d 0 R",
    "with a zero": b"0%d 0 R",
    "with a point": b"%d. 0 R",
    "with a fraction": b"%d.0 0 R",
    "with a minus within": b"%d-9999 0 R",
    "with a comment": b"%d%%c\n0 R",
    "with a comment before the R": b"%d 0%%c\nR",
    "with a generation with a point": b"%d 0. R",
    "with a generation with a sign": b"%d +0 R",
    "with no gap before the R": b"%d 0R",
    "with a minus and no gap": b"%d -0R",
    "with an escape": b"%d 0 #52",
    WRAPPING: b"%d 0 R",
    "with a number below zero": b"-%d 0 R",
    "with other gaps": b"%d\x0b0\x80R",
}
"""Ways to refer to a missing object that at least some readers take for a reference."""
DIGEST = b"/" + b"0123456789ABCDEF" * 2 + b"01234567"
LENGTH = 60_000
"""The length in bytes that the growing upload states of itself."""
_WIDE = 40  # bytes for the placeholder of a reference until the file is written
_ROOM = [0, 0, 595, 842]
_PLAIN = pikepdf.ObjectStreamMode.disable
XMP = (
    b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>"
    b"</x:xmpmeta><!--%b-->"
)


def _two_pages(prepare: Callable[[pikepdf.Pdf], None], mode: pikepdf.ObjectStreamMode = _PLAIN) -> bytes:
    pages = [text("I owe 1,000 EUR", 100, 700), text("This is not binding", 100, 700)]
    return paper(*pages, prepare=prepare, compress_streams=False, static_id=True, object_stream_mode=mode)


def _draws(document: pikepdf.Pdf, content: bytes, **resources: Any) -> pikepdf.Stream:
    form = document.make_stream(content)
    form.Type, form.Subtype, form.BBox = Name.XObject, Name.Form, Array(_ROOM)
    form.Resources = document.make_indirect(Dictionary(**resources))
    return form


def _put_on_last_page(document: pikepdf.Pdf, forms: list[pikepdf.Stream]) -> None:
    page = document.pages[1].obj
    page.Resources.XObject = Dictionary({f"/W{number}": form for number, form in enumerate(forms)})
    drawn = b"".join(b" q /W%d Do Q" % number for number in range(len(forms)))
    page.Contents = document.make_stream(page.Contents.read_bytes() + drawn)


_NO_FONT = b"BT %b 12 Tf 100 660 Td (which is binding) Tj ET"


def upload_with_catalog() -> bytes:
    """Return an upload with a page that looks for its fonts in the catalog, which has none."""

    def prepare(document: pikepdf.Pdf) -> None:
        _put_on_last_page(document, [_draws(document, _NO_FONT % b"/Extensions", Font=document.Root)])

    return _two_pages(prepare)


def upload_with_store() -> bytes:
    """Return an upload whose /DSS is the object stream with all other objects."""
    name = "/W".ljust(_WIDE, "x")

    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.DSS = Name(name)

    made = _two_pages(prepare, pikepdf.ObjectStreamMode.generate)
    return made.replace(name.encode(), b"1 0 R".ljust(_WIDE))


def shared_upload() -> bytes:
    """Return an upload whose pages also use the objects that an update may write anew."""

    def prepare(document: pikepdf.Pdf) -> None:
        page, data = document.pages[1].obj, document.make_indirect(Dictionary())
        document.docinfo["/Title"] = "Letter"
        fonts = _draws(document, _NO_FONT % DIGEST, Font=data)
        properties = {"Type": Name.XRef, "Info": document.trailer.Info, "XObject": document.trailer.Info}
        _put_on_last_page(document, [_draws(document, b"/Producer Do", **properties), fonts])
        page.Contents = document.make_indirect(Array([page.Contents, Name("/W".ljust(_WIDE, "x"))]))
        document.Root.DSS = document.make_indirect(Dictionary(Certs=page.Contents, VRI=data))
        document.Root.Metadata = document.make_stream(XMP % b"", Type=Name.Metadata, Subtype=Name.XML)

    made = _two_pages(prepare)
    with pikepdf.open(io.BytesIO(made)) as document:
        disguised = b"%%/Metadata\n%d 0 R" % document.Root.Metadata.objgen[0]
    return made.replace(b"/W".ljust(_WIDE, b"x"), disguised.ljust(_WIDE))


def disguised_upload() -> bytes:
    """Return an upload with a page that draws the list of certificates; a comment makes it look like a store's."""
    stands_for_it = "/W".ljust(_WIDE, "x")

    def prepare(document: pikepdf.Pdf) -> None:
        page = document.pages[1].obj
        document.Root.DSS = document.make_indirect(Dictionary(Certs=document.make_indirect(Array([page.Contents]))))
        page.Contents = Name(stands_for_it)

    made = _two_pages(prepare)
    with pikepdf.open(io.BytesIO(made)) as document:
        disguised = b"%%obj<</Certs\n%d 0 R%%>>\n" % document.Root.DSS.Certs.objgen[0]
    return made.replace(stands_for_it.encode(), disguised.ljust(_WIDE))


def upload_with_hole(how: str, number: int) -> bytes:
    """Return an upload in which a page, or a form on it, draws object ``number``, which is missing."""
    name = "/W".ljust(_WIDE, "x")

    def prepare(document: pikepdf.Pdf) -> None:
        page = document.pages[1].obj
        if how == OF_A_PAGE:
            page.Contents = document.make_indirect(Array([page.Contents, Name(name)]))
        else:
            _put_on_last_page(document, [_draws(document, b"/X Do", XObject=Dictionary(X=Name(name)))])

    reference = MISSING[how] % (number + (1 << 32) if how == WRAPPING else number)
    return _two_pages(prepare).replace(name.encode(), reference.ljust(_WIDE))


def referring_upload(number: int) -> bytes:
    """Return an upload whose content refers, as some readers understand it, to object ``number``, which is missing."""

    def prepare(document: pikepdf.Pdf) -> None:
        page = document.pages[1].obj
        drawn = b" BT /F1 12 Tf 100 660 Td " + (b"[%d 0 R]" % number).ljust(_WIDE) + b" TJ ET"
        page.Contents = document.make_stream(page.Contents.read_bytes() + drawn)

    return _two_pages(prepare)


def growing_upload() -> bytes:
    """Return an upload whose first cross-reference, to forged pages, counts once the file has its stated length."""
    forged = b"BT /F1 12 Tf 100 700 Td (I owe 9,000,000 EUR) Tj ET"
    shown = b"BT /F1 12 Tf 100 700 Td (I owe 1,000 EUR) Tj ET"
    page = b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    stream = b"<</Length %d>>\nstream\n%b\nendstream"
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        3: page % (2, 4),
        4: stream % (len(shown), shown),
        5: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        6: b"<</Type/Catalog/Pages 7 0 R>>",
        7: b"<</Type/Pages/Count 1/Kids[8 0 R]>>",
        8: page % (7, 9),
        9: stream % (len(forged), forged),
    }
    out = bytearray(b"%PDF-1.7\n10 0 obj\n")
    out += b"<</Linearized 1/L %d/H[600 10]/O 3/E 900/N 1/T 1000>>\nendobj\n" % LENGTH
    first, size = len(out), len(_table({}, 6))
    places = {10: 9}
    out += b" " * size
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    out[first : first + size] = _table(places, 6)
    start = len(out)
    return bytes(out) + _table(places, 1) + b"startxref\n%d\n%%%%EOF\n" % start


def _table(places: dict[int, int], root: int) -> bytes:
    rows = b"".join(b"%010d 00000 n \n" % places.get(number, 0) for number in range(1, 11))
    file = b"[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]"
    return b"xref\n0 11\n0000000000 65535 f \n%btrailer\n<</Size 11/Root %d 0 R/ID%b>>\n" % (rows, root, file)
