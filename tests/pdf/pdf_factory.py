"""PDFs made for the tests from their raw parts, so that where a text stands is known beforehand."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name


def flipped(content: bytes, place: int = -1, bit: int = 1) -> bytes:
    """A copy in which a bit is another."""
    changed = bytearray(content)
    changed[place] ^= bit
    return bytes(changed)


def paper(
    *contents: bytes | str,
    size: tuple[float, float] = (595, 842),
    page: Mapping[str, Any] | None = None,
    prepare: Callable[[pikepdf.Pdf], None] | None = None,
    **save: Any,
) -> bytes:
    """One page per content stream, with Helvetica as /F1; ``page`` adds entries to every page."""
    document = pikepdf.new()
    entries = {"/Type": Name.Font, "/Subtype": Name.Type1, "/BaseFont": Name.Helvetica}
    font = document.make_indirect(Dictionary({**entries, "/Encoding": Name.WinAnsiEncoding}))
    for content in contents:
        sheet = document.add_blank_page(page_size=size)
        sheet.obj.Resources = Dictionary(Font=Dictionary(F1=font))
        sheet.obj.Contents = document.make_stream(content.encode() if isinstance(content, str) else content)
        for key, value in (page or {}).items():
            sheet.obj[key] = Array(value) if isinstance(value, Sequence) else value
    if prepare:
        prepare(document)
    return saved(document, **save)


def saved(document: pikepdf.Pdf, **save: Any) -> bytes:
    file = io.BytesIO()
    document.save(file, **save)
    return file.getvalue()


def text(words: str, x: float, y: float, size: float = 12) -> str:
    """A content stream part: ``words`` in Helvetica with their baseline starting at x, y."""
    return f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({words}) Tj ET\n"


def chinese(words: str) -> bytes:
    """A page with the words in a font that is not in the file, as old programs write them."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(50 * len(words), 100))
    name = Name("/STSong-Light")
    looks = Dictionary(Type=Name.FontDescriptor, FontName=name, Flags=4, FontBBox=Array([0, -200, 1000, 900]))
    system = Dictionary(Registry=pikepdf.String("Adobe"), Ordering=pikepdf.String("GB1"), Supplement=2)
    letters = Dictionary(Type=Name.Font, Subtype=Name.CIDFontType0, BaseFont=name, DW=1000)
    letters.CIDSystemInfo, letters.FontDescriptor = system, document.make_indirect(looks)
    font = Dictionary(Type=Name.Font, Subtype=Name.Type0, BaseFont=name, Encoding=Name("/UniGB-UCS2-H"))
    font.DescendantFonts = Array([document.make_indirect(letters)])
    page.obj.Resources = Dictionary(Font=Dictionary(F1=document.make_indirect(font)))
    drawn = b"BT /F1 40 Tf 5 30 Td <" + words.encode("utf-16-be").hex().encode() + b"> Tj ET"
    page.obj.Contents = document.make_stream(drawn)
    return saved(document)
