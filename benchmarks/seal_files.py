"""The three files of the sealing benchmark: text, a picture on every page, and the objects of a tagged document."""

import random
from functools import cache
from io import BytesIO

import pikepdf
from pikepdf import Array, Dictionary, Name, ObjectStreamMode

FILES = {"a": (1, 40, 30_000), "b": (20, 1_500, 1_100_000), "c": (300, 46_000, 21_000_000)}
"""Pages, objects, bytes."""

_WORDS = (
    b"the party of the first part shall indemnify and hold harmless the quiet (second) party quite against any claim"
)


@cache
def make(name: str) -> bytes:
    """The same bytes at every call."""
    pages, objects, size = FILES[name]
    source = random.Random(name)
    document = pikepdf.new()
    font = document.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
    elements = []
    each = (objects - 5 * pages) // pages
    picture = max(1, (size - each * pages * 22) // pages - 1500)
    for number in range(pages):
        page = document.add_blank_page(page_size=(595, 842))
        image = document.make_stream(source.randbytes(picture), Type=Name.XObject, Subtype=Name.Image)
        image.update(Dictionary(Width=picture, Height=1, ColorSpace=Name.DeviceGray, BitsPerComponent=8))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font), XObject=Dictionary(Im0=document.make_indirect(image)))
        page.obj.Contents = document.make_stream(_text(source, number))
        page.obj.StructParents = number
        kids = [document.make_indirect(Dictionary(S=Name.P, Pg=page.obj, K=index)) for index in range(max(0, each))]
        elements.append(document.make_indirect(Dictionary(S=Name.Sect, K=Array(kids))))
    document.Root.StructTreeRoot = document.make_indirect(Dictionary(Type=Name.StructTreeRoot, K=Array(elements)))
    file = BytesIO()
    mode = ObjectStreamMode.disable if name == "a" else ObjectStreamMode.generate
    document.save(file, object_stream_mode=mode, compress_streams=True, deterministic_id=True)
    return file.getvalue()


def _text(source: random.Random, number: int) -> bytes:
    """A dense page: 50 lines, a rule and a picture."""
    words = _WORDS.split()
    lines = [b"q 0.2 w 72 60 m 523 60 l S Q", b"q 100 0 0 20 72 30 cm /Im0 Do Q", b"BT /F1 10 Tf 72 780 Td 14 TL"]
    for line in range(50):
        drawn = b" ".join(source.choices(words, k=12)).replace(b"(", b"\\(").replace(b")", b"\\)")
        lines.append(b"[(%d.%d )-250(%b)]TJ T*" % (number, line, drawn))
    return b"\n".join([*lines, b"ET"])
