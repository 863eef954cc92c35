"""Harmful PDFs: small files that exhaust, hang or break the programs that read them."""

import random
import struct
import zlib
from typing import Any

import pikepdf
from pikepdf import Array, Name

from tests.pdf.pdf_factory import Stream, paper, saved, text


def nested_forms(levels: int = 12, calls: int = 10, page: int = 1) -> bytes:
    """Every form draws the next one ten times: a trillion drawings in 3 KB, on the last page, which is ``page``."""

    form: dict[str, Any] = {"Type": Name.XObject, "Subtype": Name.Form, "BBox": [0, 0, 9, 9]}
    inner = Stream("0 0 1 1 re f", **form)
    for _ in range(levels):
        inner = Stream("/X Do " * calls, **form, Resources={"XObject": {"X": inner}})
    return paper(*[text("a", 50, 50)] * (page - 1), "/X Do", resources={"XObject": {"X": inner}})


def inflating(gibibytes: int = 2, on_page: bool = False, filters: int = 1) -> bytes:
    """A stream of spaces that unpacks to ``gibibytes``, as the page's content or in an object that nothing shows."""
    start, piece, count, end = b"", b" " * (1 << 20), gibibytes << 10, b""
    for _ in range(filters):
        start, piece, count, end = _packed(start, piece, count, end)
    packed = Stream(start + piece * count + end, Filter=[Name.FlateDecode] * filters)
    entry = {"Contents" if on_page else "PieceInfo": packed}
    return paper(text("a", 50, 50), page=entry, compress_streams=False)


def _packed(start: bytes, piece: bytes, count: int, end: bytes) -> tuple[bytes, bytes, int, bytes]:
    """Pack ``start + piece * count + end`` in the same form, without ever having all of it in memory. The checksum is
    wrong, which no reader minds."""
    packer = zlib.compressobj(9)
    together = max(1, min(count, (1 << 20) // len(piece)))
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    body = packer.compress(piece * together) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = packer.compress(piece * (count % together) + end) + packer.flush()
    return head, body, count // together, rest


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


def many_contents(streams: int, mebibytes: int, *, filters: int = 2, pages: int = 1, shared: bool = False) -> bytes:
    """Streams of spaces, each small enough by itself, which every page after the first draws together. ``shared``: one
    stream, drawn ``streams`` times."""
    document = pikepdf.new()
    document.add_blank_page()
    packed = deflated(b" " * (1 << 20), mebibytes, filters)

    def stream() -> pikepdf.Object:
        made = pikepdf.Stream(document, packed, Filter=Array([Name.FlateDecode] * filters))
        return document.make_indirect(made)

    contents = [stream()] * streams if shared else [stream() for _ in range(streams)]
    for _ in range(pages):
        document.add_blank_page()
        document.pages[-1].obj.Contents = Array(contents)
    return saved(document, compress_streams=False)


def many_fonts(count: int = 8, mebibytes: int = 100) -> bytes:
    """Fonts, each with a large map to Unicode."""

    packed = deflated(b" " * (1 << 20), mebibytes, 2)
    font = {"Type": Name.Font, "Subtype": Name.Type1, "BaseFont": Name.Helvetica}
    large = {f"G{each}": {**font, "ToUnicode": Stream(packed, Filter=[Name.FlateDecode] * 2)} for each in range(count)}
    return paper(text("a", 50, 50), resources={"Font": large}, compress_streams=False)


def packed_objects(streams: int = 8, mebibytes: int = 100) -> bytes:
    """Objects, each in its own object stream and followed by ``mebibytes`` of white space."""
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 99 99]>>"}
    objects[3] = b"<</Type/Page/Parent 2 0 R/Annots[%b]>>" % b" ".join(
        b"%d 0 R" % (4 + each) for each in range(streams)
    )
    rows, body = [(1, 0, 0)] * (4 + 2 * streams), b"%PDF-1.7\n"
    for each in range(streams):
        place = 4 + streams + each
        start = b"%d 0 " % (4 + each)
        data = deflated(b" " * (1 << 20), mebibytes, 2, first=start + b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]>>")
        about = b"/Type/ObjStm/N 1/First %d/Length %d/Filter[/FlateDecode/FlateDecode]" % (len(start), len(data))
        objects[place] = b"<<%b>>stream\n%b\nendstream" % (about, data)
        rows[4 + each] = (2, place, 0)
    for number, content in objects.items():
        rows[number] = (1, len(body), 0)
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    rows[0] = (0, 0, 65535)
    return _with_table(body, rows)


def long_array(mebibytes: int = 100) -> bytes:
    """A form in an object stream, whose list of fields is a great many numbers."""
    pages = b"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 99 99]>>"
    objects = [b"<</Type/Catalog/Pages 2 0 R/AcroForm 4 0 R>>", pages, b"<</Type/Page/Parent 2 0 R>>"]
    packed = deflated(b"1 " * (1 << 19), mebibytes, 2, first=b"4 0 <</Fields[", last=b"]>>")
    about = b"/Type/ObjStm/N 1/First 4/Length %d/Filter[/FlateDecode/FlateDecode]" % len(packed)
    body, rows = b"%PDF-1.7\n", [(0, 0, 65535)]
    for number, content in enumerate([*objects, b"", b"<<%b>>stream\n%b\nendstream" % (about, packed)], start=1):
        rows.append((1, len(body), 0) if content else (2, 5, 0))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content) if content else b""
    return _with_table(body, rows)


def _with_table(body: bytes, rows: list[tuple[int, int, int]]) -> bytes:
    """The file with its cross-reference stream."""
    rows = [*rows, (1, len(body), 0)]
    table = b"".join(struct.pack(">BIH", *row) for row in rows)
    about = b"/Type/XRef/W[1 4 2]/Size %d/Root 1 0 R/Length %d" % (len(rows), len(table))
    end = b"%d 0 obj\n<<%b>>stream\n%b\nendstream\nendobj\n" % (len(rows) - 1, about, table)
    return body + end + b"startxref\n%d\n%%%%EOF\n" % len(body)


def deflated(piece: bytes, times: int, filters: int, first: bytes = b"", last: bytes = b"") -> bytes:
    """Return ``first``, ``times`` times the piece, and ``last``, deflated ``filters`` times. The zlib stream is put
    together by hand, so that the piece is packed only once."""
    packer = zlib.compressobj(9)
    start = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.compress(last) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = zlib.adler32(last, zlib.adler32(piece * times, zlib.adler32(first)))
    whole = start + again * times + end + b"\x03\x00" + checksum.to_bytes(4, "big")
    for _ in range(filters - 1):
        whole = zlib.compress(whole, 9)
    return whole
