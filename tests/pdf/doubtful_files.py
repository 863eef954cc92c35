"""Files of one page that readers draw differently, and similar files that they draw alike."""

import io
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from fontTools.cffLib import FDArrayIndex, FDSelect, FontDict
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._c_m_a_p import CmapSubtable
from pikepdf import Name
from PIL import Image

from tests.pdf.pdf_factory import HELVETICA, Stream, paper

TEXT = "BT /F1 40 Tf 60 600 Td (1,000) Tj ET"
GLYPHS = [".notdef", "one", "nine", "g3"]
GRAY: dict[str, Any] = {"Width": 4, "Height": 2, "BitsPerComponent": 8, "ColorSpace": Name.DeviceGray}
MASK: dict[str, Any] = {"Width": 4, "Height": 2, "BitsPerComponent": 1, "ImageMask": True}
PIXELS, BITS = bytes(range(0, 80, 10)), b"\xa0\x50"
Codes = Mapping[int, str]


def of_state(contents: str = TEXT, **entries: Any) -> bytes:
    return paper(f"/G gs {contents}", resources={"ExtGState": {"G": entries}})


def grouped(space: Any, blend: Any) -> bytes:
    """A page whose colours are mixed in the colour space ``space``, by the blend mode ``blend``."""
    group = {"Group": {"S": Name.Transparency, "CS": space}}
    return paper(f"/G gs {TEXT}", page=group, resources={"ExtGState": {"G": {"BM": blend}}})


def coloured(space: Any, contents: str = "/C cs 1 sc") -> bytes:
    """A page with ``space`` as its colour space ``/C``."""
    return paper(f"{contents} {TEXT}", resources={"ColorSpace": {"C": space}})


def profile(kind: bytes, **entries: Any) -> list[Any]:
    """A colour space by an ICC profile that is only a header; ``kind`` is the colour space that the header names."""
    return [Name.ICCBased, Stream(bytes(16) + kind + bytes(16) + b"acsp" + bytes(88), **entries)]


def differing(code: int, name: str, **base: Any) -> dict[str, Any]:
    """An encoding with the glyph ``name`` for ``code``."""
    return {"Differences": [code, Name("/" + name)], **base}


def in_font(contents: str = TEXT, **entries: Any) -> bytes:
    """A page with a font of these ``entries`` as /F1; those that are ``None`` are left out."""
    font = {"Type": Name.Font, **{key: value for key, value in entries.items() if value is not None}}
    return paper(contents, resources={"Font": {"F1": font}})


def standard(base: str, encoding: Any, **others: Any) -> bytes:
    return in_font(Subtype=Name.Type1, BaseFont=Name("/" + base), Encoding=encoding, **others)


def image(data: bytes = PIXELS, **entries: Any) -> Stream:
    return Stream(data, Type=Name.XObject, Subtype=Name.Image, **entries)


def picture(data: bytes = PIXELS, **entries: Any) -> bytes:
    return paper("q 200 0 0 100 60 500 cm /I Do Q", resources={"XObject": {"I": image(data, **entries)}})


def jpeg(mode: str = "L", **entries: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, (16, 8)).save(file, "JPEG")
    return picture(file.getvalue(), **{**GRAY, "Width": 16, "Height": 8, "Filter": Name.DCTDecode, **entries})


def form(before: str, data: str = TEXT, **more: Any) -> bytes:
    known = {"Font": {"F1": HELVETICA}}
    drawn = Stream(data, Subtype=Name.Form, BBox=[0, 0, 600, 800], Resources=known, **more)
    return paper(f"{before} /F Do", resources={"XObject": {"F": drawn}})


def glyphs(
    begins: str,
    before: str = "",
    names: Sequence[str] = ("one",),
    draws: str = "0 0 700 700 re f",
    matrix: Sequence[float] = (0.001, 0, 0, 0.001, 0, 0),
    **others: Any,
) -> bytes:
    """A page in a Type 3 font, where 49 is the last of ``names``. ``others``: its entries; ``None`` leaves one out."""
    entries = {"FontBBox": [0, 0, 1000, 1000], "FirstChar": 49, "LastChar": 49, "Widths": [1000], **others}
    drawn = {name: Stream(f"{begins} {draws}") for name in names}
    known = {"Font": {"F1": HELVETICA}}
    how = {"FontMatrix": matrix, "Encoding": differing(49, names[-1]), "CharProcs": drawn, "Resources": known}
    return in_font(f"{before} BT /F1 60 Tf 60 600 Td (1) Tj ET", Subtype=Name.Type3, **how, **entries)


def _descriptor(flags: int, key: str, program: bytes, kind: str | None) -> dict[str, Any]:
    entries = {"Subtype": Name("/" + kind)} if kind else {}
    return {"Type": Name.FontDescriptor, "FontName": Name.Test, "Flags": flags, key: Stream(program, **entries)}


def embedded(
    subtype: str, key: str, program: bytes, encoding: Any = None, *, flags: int = 32, kind: str | None = None
) -> bytes:
    codes: dict[str, Any] = {"FirstChar": 49, "LastChar": 49, "Widths": [600], "Encoding": encoding}
    looks = _descriptor(flags, key, program, kind)
    return in_font(Subtype=Name("/" + subtype), BaseFont=Name.Test, FontDescriptor=looks, **codes)


def composite(subtype: str, key: str, program: bytes, kind: str | None = None, **more: Any) -> bytes:
    system = {"Registry": "Adobe", "Ordering": "Identity", "Supplement": 0}
    inner = {"Type": Name.Font, "Subtype": Name("/" + subtype), "BaseFont": Name.Test, "CIDSystemInfo": system}
    inner |= {"FontDescriptor": _descriptor(4, key, program, kind), **more}
    outer = {"Subtype": Name.Type0, "BaseFont": Name.Test, "Encoding": Name("/Identity-H"), "DescendantFonts": [inner]}
    return in_font("BT /F1 40 Tf 60 600 Td <0001> Tj ET", **outer)


@cache
def opentype() -> bytes:
    """A font program whose glyphs have names."""
    return _saved(_with_outlines())


@cache
def numbered() -> bytes:
    """A font program whose glyphs have numbers (CIDs) that differ from their positions."""
    builder = _with_outlines()
    font = builder.font
    [top] = font["CFF "].cff.topDictIndex
    glyphs, inner = top.CharStrings, FontDict()
    inner.Private = top.Private
    fonts, chosen = FDArrayIndex(), FDSelect()
    fonts.append(inner)
    chosen.format, chosen.gidArray = 3, [0] * len(GLYPHS)
    names = dict(zip(top.charset, [".notdef", "cid00005", "cid00001", "cid00002"], strict=True))
    glyphs.charStrings = {names[name]: glyph for name, glyph in glyphs.charStrings.items()}
    top.ROS, top.CIDCount, top.charset = ("Adobe", "Identity", 0), 9, list(names.values())
    top.FDArray = glyphs.fdArray = fonts
    top.FDSelect = glyphs.fdSelect = chosen
    del top.Private
    top.rawDict.pop("Private", None)
    font.setGlyphOrder(top.charset)
    font["hmtx"].metrics = {names[name]: width for name, width in font["hmtx"].metrics.items()}
    for table in font["cmap"].tables:
        table.cmap = {code: names[name] for code, name in table.cmap.items()}
    return _saved(builder)


def _with_outlines() -> FontBuilder:
    pen = T2CharStringPen(600, None)
    builder = _built(FontBuilder(1000, isTTF=False))
    builder.setupCFF("Test", {}, {name: pen.getCharString() for name in GLYPHS}, {})
    return builder


@cache
def cff() -> bytes:
    return bytes(TTFont(io.BytesIO(opentype())).getTableData("CFF "))


def truetype(*maps: tuple[int, int, Codes], names: bool = True) -> bytes:
    """A TrueType font program with ``maps``: each a platform, an encoding, and the glyph of each code."""
    builder = _built(FontBuilder(1000, isTTF=True), names=names)
    builder.setupGlyf(dict.fromkeys(GLYPHS, TTGlyphPen(None).glyph()))
    builder.font["cmap"].tables = [_map(*each) for each in maps]
    return _saved(builder)


def _map(platform: int, encoding: int, codes: Codes) -> Any:
    made = CmapSubtable.newSubtable(6 if platform == 1 else 4)
    made.platformID, made.platEncID, made.language, made.cmap = platform, encoding, 0, dict(codes)
    return made


def _built(builder: FontBuilder, *, names: bool = True) -> FontBuilder:
    builder.setupGlyphOrder(GLYPHS)
    builder.setupCharacterMap({0x31: "one", 0x39: "nine"})
    builder.setupHorizontalMetrics(dict.fromkeys(GLYPHS, (600, 0)))
    builder.setupHorizontalHeader()
    builder.setupNameTable({})
    builder.setupOS2()
    builder.setupPost(keepGlyphNames=names)
    return builder


def _saved(builder: FontBuilder) -> bytes:
    file = io.BytesIO()
    builder.save(file)
    return file.getvalue()


def annotated(subtype: str, look: str | Mapping[str, str] | None = "0 0 9 9 re f", **entries: Any) -> bytes:
    """A page with an annotation away from the text, printed too, with one appearance or one for each state."""

    def drawn(data: str) -> Stream:
        return Stream(data, Subtype=Name.Form, BBox=[0, 0, 100, 40])

    found = {"Subtype": Name("/" + subtype), "Rect": [60, 300, 160, 340], "F": 4, **entries}
    if isinstance(look, str):
        found["AP"] = {"N": drawn(look)}
    elif look is not None:
        found["AP"] = {"N": {state: drawn(data) for state, data in look.items()}}
    return paper(TEXT, annotations=[found])
