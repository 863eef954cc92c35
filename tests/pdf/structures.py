"""Small files, one of each structure that readers must know."""

from functools import cache

import pikepdf
from pikepdf import Array, Dictionary, Name, ObjectStreamMode

from tests.pdf.pdf_factory import paper, saved, text
from tests.pdf.revisions import orphan, revised


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
        revised(plain, orphan),
        paper(drawn, prepare=_with_form),
        paper(drawn, prepare=_with_nested_pages),
        saved(pikepdf.new()),
    ]


def _with_form(document: pikepdf.Pdf) -> None:
    widget = Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T="name", V="", Rect=[10, 10, 90, 30])
    field = document.make_indirect(widget)
    document.pages[0].obj.Annots = Array([field])
    document.Root.AcroForm = document.make_indirect(Dictionary(Fields=[field]))


def _with_nested_pages(document: pikepdf.Pdf) -> None:
    """Put the page one level deeper, so that it inherits its box and resources."""
    page, top = document.pages[0].obj, document.Root.Pages
    middle = document.make_indirect(Dictionary(Type=Name.Pages, Kids=[page], Count=1, Parent=top))
    middle.MediaBox, middle.Resources = page.MediaBox, page.Resources
    del page["/MediaBox"], page["/Resources"]
    page.Parent = middle
    top.Kids = Array([middle])
