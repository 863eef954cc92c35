"""Small files, one of each structure that readers must know."""

import io
from functools import cache

import pikepdf
from pikepdf import ObjectStreamMode

from tests.pdf.pdf_factory import paper, saved, text


@cache
def a_file_of_each_structure() -> list[bytes]:
    """A table, object streams, linearised, encrypted by its owner, two revisions, a form, nested pages."""
    drawn = text("{{sign1}}", 100, 300)
    plain = paper(drawn, "q 1 0 0 1 5 5 cm\n" + drawn, page={"/Rotate": 90, "/CropBox": [0, 0, 400, 400]})
    locked = pikepdf.Encryption(owner="owner", user="", R=6)
    return [
        plain,
        paper(drawn, object_stream_mode=ObjectStreamMode.generate),
        paper(drawn, linearize=True),
        paper(drawn, encryption=locked),
        plain + _revision(plain),
        paper(drawn, prepare=_with_form),
        paper(drawn, prepare=_with_nested_pages),
        saved(pikepdf.new()),
    ]


def _revision(pdf: bytes) -> bytes:
    """A second revision that changes nothing: an object nobody refers to."""
    at = len(pdf)
    start = pdf[pdf.rindex(b"startxref") + 9 :].split()[0]
    with pikepdf.open(io.BytesIO(pdf)) as document:
        number, root = len(document.objects) + 1, document.Root.objgen[0]
    added = b"\n%d 0 obj\nnull\nendobj\n" % number
    table = b"xref\n%d 1\n%010d 00000 n \n" % (number, at + 1)
    trailer = b"trailer\n<</Size %d/Root %d 0 R/Prev %s>>\n" % (number + 1, root, start)
    return added + table + trailer + b"startxref\n%d\n%%%%EOF\n" % (at + len(added))


def _with_form(document: pikepdf.Pdf) -> None:
    field = document.make_indirect(
        pikepdf.Dictionary(
            Type=pikepdf.Name.Annot,
            Subtype=pikepdf.Name.Widget,
            FT=pikepdf.Name.Tx,
            T="name",
            V="",
            Rect=[10, 10, 90, 30],
            P=document.pages[0].obj,
        )
    )
    document.pages[0].obj.Annots = pikepdf.Array([field])
    document.Root.AcroForm = document.make_indirect(pikepdf.Dictionary(Fields=[field]))


def _with_nested_pages(document: pikepdf.Pdf) -> None:
    """The page one level deeper, with its box and resources inherited."""
    page, top = document.pages[0].obj, document.Root.Pages
    middle = document.make_indirect(
        pikepdf.Dictionary(Type=pikepdf.Name.Pages, Kids=[page], Count=1, Parent=top, MediaBox=page.MediaBox)
    )
    middle.Resources = page.Resources
    del page["/MediaBox"], page["/Resources"]
    page.Parent = middle
    top.Kids = pikepdf.Array([middle])
