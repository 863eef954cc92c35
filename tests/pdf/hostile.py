"""PDFs that want to do harm: small files that burst, hang or break what reads them."""

import random
import zlib

import pikepdf
from pikepdf import Array, Dictionary, Name

from tests.pdf.papers import paper, saved, text


def nested_forms(levels: int = 12, calls: int = 10, page: int = 1) -> bytes:
    """Every form draws the next one ten times: a trillion drawings in 3 KB, on the last page, which is ``page``."""

    def prepare(document: pikepdf.Pdf) -> None:
        inner = document.make_stream(b"0 0 1 1 re f", _form({}))
        for _ in range(levels):
            inner = document.make_stream(b"/X Do " * calls, _form({"/X": inner}))
        document.pages[-1].obj.Resources = Dictionary(XObject=Dictionary(X=inner))

    return paper(*[text("a", 50, 50)] * (page - 1), "/X Do", prepare=prepare)


def _form(objects: dict[str, pikepdf.Object]) -> Dictionary:
    resources = Dictionary(XObject=Dictionary(objects))
    return Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 9, 9]), Resources=resources)


def inflating(gibibytes: int = 2, on_page: bool = False, filters: int = 1) -> bytes:
    """A stream of spaces that unpacks to ``gibibytes``, as the page's content or in an object nothing shows."""
    packer = zlib.compressobj(9)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = start + piece * (gibibytes << 10) + packer.flush()  # the checksum is wrong, which no reader minds
    for _ in range(filters - 1):
        packed = zlib.compress(packed, 9)

    def prepare(document: pikepdf.Pdf) -> None:
        stream = pikepdf.Stream(document, packed, Filter=Array([Name.FlateDecode] * filters))
        document.pages[0].obj["/Contents" if on_page else "/PieceInfo"] = document.make_indirect(stream)

    return paper(text("a", 50, 50), prepare=prepare, compress_streams=False)


def looping_pages() -> bytes:
    """A page tree whose node is its own child."""
    document = pikepdf.new()
    document.add_blank_page()
    tree = document.Root.Pages
    tree.Kids.append(tree)
    tree.Count = 2
    return saved(document)


def counting_pages(count: int) -> bytes:
    """A page tree that claims ``count`` pages and has one."""
    return paper("").replace(b"/Count 1", b"/Count %d" % count)


def deep_arrays(depth: int = 100_000) -> bytes:
    return paper("").replace(b"/Type /Catalog", b"/Type /Catalog /Deep " + b"[" * depth + b"]" * depth)


def noise(length: int = 20_000) -> bytes:
    return b"%PDF-1.7\n" + random.Random(1).randbytes(length)


def truncated() -> bytes:
    whole = paper(text("a", 50, 50))
    return whole[: len(whole) // 3]
