"""PDFs made for the tests from their raw parts, so that where a text stands is known beforehand."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

HELVETICA = {"Type": Name.Font, "Subtype": Name.Type1, "BaseFont": Name.Helvetica, "Encoding": Name.WinAnsiEncoding}


class Stream:
    """A stream that :func:`made` makes an object of the document."""

    def __init__(self, data: bytes | str, /, **entries: Any) -> None:
        self.data = data.encode() if isinstance(data, str) else data
        self.entries = entries


def made(document: pikepdf.Pdf, value: Any) -> Any:
    """Return ``value`` and everything in it as an object of the document; keys need no slash."""
    if isinstance(value, Stream):
        return document.make_stream(value.data, made(document, value.entries))
    if isinstance(value, Mapping):
        return Dictionary({f"/{key.removeprefix('/')}": made(document, each) for key, each in value.items()})
    return Array([made(document, each) for each in value]) if isinstance(value, list | tuple) else value


def flipped(content: bytes, place: int = -1, bit: int = 1) -> bytes:
    """Return a copy in which one bit of a byte is flipped; ``bit`` is its mask."""
    changed = bytearray(content)
    changed[place] ^= bit
    return bytes(changed)


def paper(
    *contents: bytes | str,
    size: tuple[float, float] = (595, 842),
    page: Mapping[str, Any] | None = None,
    resources: Mapping[str, Any] | None = None,
    annotations: Sequence[Mapping[str, Any]] = (),
    form: Mapping[str, Any] | None = None,
    catalog: Mapping[str, Any] | None = None,
    prepare: Callable[[pikepdf.Pdf], None] | None = None,
    **save: Any,
) -> bytes:
    """One page per content stream, with Helvetica as /F1; ``page`` and ``resources`` add entries to every page.

    ``annotations``: those of the first page. The fields among them make up a form, to which ``form`` adds entries.
    """
    document = pikepdf.new()
    fonts = {"F1": document.make_indirect(made(document, HELVETICA)), **(resources or {}).get("Font", {})}
    for content in contents:
        sheet = document.add_blank_page(page_size=size).obj
        sheet.Resources = made(document, {**(resources or {}), "Font": fonts})
        sheet.Contents = made(document, Stream(content))
        for key, value in (page or {}).items():
            sheet[f"/{key.removeprefix('/')}"] = made(document, value)
    if annotations:
        listed = [document.make_indirect(made(document, {"Type": Name.Annot, **each})) for each in annotations]
        document.pages[0].obj.Annots = Array(listed)
        if fields := [each for each in listed if "/FT" in each]:
            document.Root.AcroForm = made(document, {"Fields": fields, **(form or {})})
    for key, value in (catalog or {}).items():
        document.Root[f"/{key}"] = made(document, value)
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
    name = Name("/STSong-Light")
    looks = {"Type": Name.FontDescriptor, "FontName": name, "Flags": 4, "FontBBox": [0, -200, 1000, 900]}
    system = {"Registry": "Adobe", "Ordering": "GB1", "Supplement": 2}
    letters = {"Type": Name.Font, "Subtype": Name.CIDFontType0, "BaseFont": name, "DW": 1000}
    letters |= {"CIDSystemInfo": system, "FontDescriptor": looks}
    font = {"Type": Name.Font, "Subtype": Name.Type0, "BaseFont": name, "Encoding": Name("/UniGB-UCS2-H")}
    drawn = f"BT /F1 40 Tf 5 30 Td <{words.encode('utf-16-be').hex()}> Tj ET"
    return paper(drawn, size=(50 * len(words), 100), resources={"Font": {"F1": {**font, "DescendantFonts": [letters]}}})


def unicode_map(characters: Sequence[str], *, first: int) -> bytes:
    """/ToUnicode: one byte for each of ``characters``, from the code ``first`` on."""
    lines = [f"<{code:02x}> <{text.encode('utf-16-be').hex()}>" for code, text in enumerate(characters, first)]
    parts = ["/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Test def"]
    parts += ["1 begincodespacerange <00> <ff> endcodespacerange", f"{len(lines)} beginbfchar", *lines, "endbfchar"]
    return "\n".join([*parts, "endcmap end end"]).encode()
