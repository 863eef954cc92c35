"""Pages that say what they promise in big words and each in its own colour, so that any renderer's picture shows
which copy of a page a reader takes."""

import zlib
from collections.abc import Sequence
from random import Random

from tests.pdf.odd_files.raw import Raw

COLOURS = [
    (0, 0, 255), (255, 0, 255), (255, 128, 0), (128, 0, 255), (0, 128, 128), (128, 128, 0), (0, 192, 255), (128, 64, 0),
]  # fmt: skip
"""One for each promise; none is the red or the green of marks."""
_AMOUNTS = ["1", "20", "300", "4,000", "50,000", "600,000", "1,000,000", "7"]
CATALOG, TREE, FONT = 1, 2, 3
_FIRST = 4
_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def promise(which: int, y: int = 520) -> bytes:
    """Operators that draw promise ``which``: its words, and a bar in its colour."""
    red, green, blue = (value / 255 for value in COLOURS[which])
    words = f"I pay {_AMOUNTS[which]} EUR"
    bar = f"q {red:.4f} {green:.4f} {blue:.4f} rg 60 {y - 60} 400 40 re f Q"
    return f"{bar}\nq BT /F1 36 Tf 60 {y} Td ({words}) Tj ET Q".encode()


def some(chance: Random, count: int) -> list[int]:
    """Return ``count`` different promises."""
    return chance.sample(range(len(COLOURS)), count)


def page_number(index: int) -> int:
    """Return the object number of page ``index``, counted from 0."""
    return _FIRST + 2 * index


def contents_number(index: int) -> int:
    """Return the object number of the contents of page ``index``, counted from 0."""
    return _FIRST + 2 * index + 1


def page(index: int, entries: bytes = b"", box: bytes = b"[0 0 595 842]", contents: bytes = b"") -> bytes:
    """The dictionary of a page."""
    parts = b"<</Type/Page/Parent %d 0 R/MediaBox%b/Contents %b/Resources<</Font<</F1 %d 0 R>>%b>>%b>>"
    resources, _, rest = entries.rpartition(b"|")  # "resources|entries of the page"
    return parts % (TREE, box, contents or b"%d 0 R" % contents_number(index), FONT, resources, rest)


def tree(count: int, kids: Sequence[int] | None = None) -> bytes:
    """The root of the page tree."""
    numbers = [page_number(index) for index in range(count)] if kids is None else kids
    return b"<</Type/Pages/Count %d/Kids[%b]>>" % (count, b" ".join(b"%d 0 R" % number for number in numbers))


def filled(
    raw: Raw,
    contents: Sequence[bytes],
    *,
    entries: bytes = b"",
    catalog: bytes = b"",
    packed: bool = False,
    deflated: bool = False,
    kids: bytes | None = None,
) -> Raw:
    """Return ``raw`` with a document of one page for each of ``contents``, its cross-reference not yet written."""
    objects = {
        CATALOG: b"<</Type/Catalog/Pages %d 0 R%b>>" % (TREE, catalog),
        TREE: kids or tree(len(contents)),
        FONT: _FONT,
        **{page_number(index): page(index, entries) for index in range(len(contents))},
    }
    for index, content in enumerate(contents):
        if deflated:
            raw.stream(contents_number(index), zlib.compress(content), b"/Filter/FlateDecode")
        else:
            raw.stream(contents_number(index), content)
    if packed:
        return raw.pack(raw.highest + 20, objects)
    for number, body in objects.items():
        raw.put(number, body)
    return raw


def paper(chance: Random, promises: Sequence[int], *, entries: bytes = b"", catalog: bytes = b"") -> Raw:
    """A sound document, written in one of several ways, its cross-reference not yet written."""
    turned = chance.choice([b"", b"", b"/Rotate 90", b"/Rotate 180", b"/CropBox[20 20 560 800]"])
    packed, deflated = chance.random() < 0.3, chance.random() < 0.5
    contents = [promise(which) for which in promises]
    return filled(Raw(), contents, entries=entries + turned, catalog=catalog, packed=packed, deflated=deflated)
