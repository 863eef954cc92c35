"""Files of one page that readers draw differently, and their kin that they draw alike."""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import pikepdf
from fontTools.cffLib import FDArrayIndex, FDSelect, FontDict
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._c_m_a_p import CmapSubtable
from pikepdf import Array, Dictionary, Name
from PIL import Image

from tests.pdf.pdf_factory import paper

TEXT = "BT /F1 40 Tf 60 600 Td (1,000) Tj ET"
GLYPHS = [".notdef", "one", "nine", "g3"]
GRAY: dict[str, Any] = {"Width": 4, "Height": 2, "BitsPerComponent": 8, "ColorSpace": Name.DeviceGray}
MASK: dict[str, Any] = {"Width": 4, "Height": 2, "BitsPerComponent": 1, "ImageMask": True}
PIXELS, BITS = bytes(range(0, 80, 10)), b"\xa0\x50"
Resources = Callable[[pikepdf.Pdf, Any], None]
Codes = Mapping[int, str]


def drawn(contents: str, resources: Resources | None = None) -> bytes:
    """A page with these contents; ``resources`` changes what it draws with."""

    def prepare(document: pikepdf.Pdf) -> None:
        if resources:
            resources(document, document.pages[0].obj)

    return paper(contents, prepare=prepare)


def stream(document: pikepdf.Pdf, data: bytes, **entries: Any) -> Any:
    return document.make_stream(data, Dictionary({f"/{key}": value for key, value in entries.items()}))


def of_state(contents: str = TEXT, **entries: Any) -> bytes:
    def resources(document: pikepdf.Pdf, page: Any) -> None:
        font = Array([page.Resources.Font.F1, 30])
        found = {f"/{key}": font if value == "font" else value for key, value in entries.items()}
        page.Resources.ExtGState = Dictionary(G=Dictionary(found))

    return drawn(f"/G gs {contents}", resources)


def grouped(space: Any, blend: Any) -> bytes:
    """A page whose colours are mixed in this space, in this way."""

    def prepare(document: pikepdf.Pdf) -> None:
        page = document.pages[0].obj
        page.Group = Dictionary(S=Name.Transparency, CS=space)
        page.Resources.ExtGState = Dictionary(G=Dictionary(BM=blend))

    return paper(f"/G gs {TEXT}", prepare=prepare)


def coloured(space: Any, contents: str, profile: Mapping[str, Any] | None = None, data: bytes = b"") -> bytes:
    """``/C`` is this colour space; one by a ``profile`` where there is that."""

    def resources(document: pikepdf.Pdf, page: Any) -> None:
        value = space if profile is None else Array([Name.ICCBased, stream(document, data, **profile)])
        page.Resources.ColorSpace = Dictionary(C=value)

    return drawn(f"{contents} {TEXT}", resources)


def icc(kind: bytes) -> bytes:
    """The head of a profile for colours of this kind."""
    return bytes(16) + kind + bytes(16) + b"acsp" + bytes(88)


def differing(code: int, name: str, **base: Any) -> Dictionary:
    """An encoding with another glyph for this code."""
    return Dictionary(Differences=Array([code, Name("/" + name)]), **base)


def standard(base: str, encoding: Any, **others: Any) -> bytes:
    def resources(document: pikepdf.Pdf, page: Any) -> None:
        page.Resources.Font.F1 = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name("/" + base), **others)
        if encoding is not None:
            page.Resources.Font.F1.Encoding = encoding

    return drawn(TEXT, resources)


def picture(
    data: bytes = PIXELS, masks: Mapping[str, tuple[bytes, dict[str, Any]]] | None = None, **entries: Any
) -> bytes:
    """An image; ``masks`` are images, too, and the values of its entries."""

    def resources(document: pikepdf.Pdf, page: Any) -> None:
        kind = {"Type": Name.XObject, "Subtype": Name.Image}
        others = {key: stream(document, pixels, **kind, **said) for key, (pixels, said) in (masks or {}).items()}
        page.Resources.XObject = Dictionary(I=stream(document, data, **kind, **entries, **others))

    return drawn("q 200 0 0 100 60 500 cm /I Do Q", resources)


def jpeg(mode: str = "L", **entries: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, (16, 8)).save(file, "JPEG")
    said = {**GRAY, "Width": 16, "Height": 8, "Filter": Name.DCTDecode, **entries}
    return picture(file.getvalue(), **said)


def form(before: str, data: bytes = TEXT.encode(), **more: Any) -> bytes:
    def resources(document: pikepdf.Pdf, page: Any) -> None:
        entries = {
            "Subtype": Name.Form,
            "BBox": Array([0, 0, 600, 800]),
            "Resources": Dictionary(Font=page.Resources.Font),
            **more,
        }
        page.Resources.XObject = Dictionary(F=stream(document, data, **entries))

    return drawn(f"{before} /F Do", resources)


def glyphs(
    begins: str,
    before: str = "",
    names: Sequence[str] = ("one",),
    draws: str = "0 0 700 700 re f",
    matrix: Sequence[float] = (0.001, 0, 0, 0.001, 0, 0),
    **others: Any,
) -> bytes:
    """A font of drawings, of which 49 is the last of these names. ``others``: entries, ``None`` for none."""

    def resources(document: pikepdf.Pdf, page: Any) -> None:
        entries = {
            "Type": Name.Font,
            "Subtype": Name.Type3,
            "FontBBox": Array([0, 0, 1000, 1000]),
            "FontMatrix": Array(matrix),
            "FirstChar": 49,
            "LastChar": 49,
            "Widths": Array([1000]),
            "Encoding": differing(49, names[-1]),
            "CharProcs": Dictionary({f"/{name}": stream(document, f"{begins} {draws}".encode()) for name in names}),
            "Resources": Dictionary(Font=Dictionary(F1=page.Resources.Font.F1)),
            **others,
        }
        page.Resources.Font.T = Dictionary({f"/{key}": value for key, value in entries.items() if value is not None})

    return drawn(f"{before} BT /T 60 Tf 60 600 Td (1) Tj ET", resources)


def embedded(
    subtype: str, key: str, program: bytes, encoding: Any = None, *, flags: int = 32, kind: str | None = None
) -> bytes:
    def resources(document: pikepdf.Pdf, page: Any) -> None:
        entries = {"Subtype": Name("/" + kind)} if kind else {}
        descriptor = Dictionary(Type=Name.FontDescriptor, FontName=Name.Test, Flags=flags)
        descriptor["/" + key] = stream(document, program, **entries)
        codes: dict[str, Any] = {"FirstChar": 49, "LastChar": 49, "Widths": Array([600])}
        font = Dictionary(
            Type=Name.Font,
            Subtype=Name("/" + subtype),
            BaseFont=Name.Test,
            FontDescriptor=document.make_indirect(descriptor),
            **codes,
        )
        if encoding is not None:
            font.Encoding = encoding
        page.Resources.Font.F1 = font

    return drawn(TEXT, resources)


def composite(subtype: str, key: str, program: bytes, kind: str | None = None, **more: Any) -> bytes:
    def resources(document: pikepdf.Pdf, page: Any) -> None:
        entries = {"Subtype": Name("/" + kind)} if kind else {}
        descriptor = Dictionary(Type=Name.FontDescriptor, FontName=Name.Test, Flags=4)
        descriptor["/" + key] = stream(document, program, **entries)
        system = Dictionary(Registry="Adobe", Ordering="Identity", Supplement=0)
        inner = Dictionary(
            Type=Name.Font,
            Subtype=Name("/" + subtype),
            BaseFont=Name.Test,
            CIDSystemInfo=system,
            FontDescriptor=document.make_indirect(descriptor),
            **more,
        )
        page.Resources.Font.F1 = Dictionary(
            Type=Name.Font,
            Subtype=Name.Type0,
            BaseFont=Name.Test,
            Encoding=Name("/Identity-H"),
            DescendantFonts=Array([document.make_indirect(inner)]),
        )

    return drawn("BT /F1 40 Tf 60 600 Td <0001> Tj ET", resources)


@cache
def opentype() -> bytes:
    """A program of glyphs by their names."""
    return _saved(_with_outlines())


@cache
def numbered() -> bytes:
    """A program of glyphs by numbers (CIDs) that are not their places."""
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
    """A program with these maps: platform, encoding, and the glyphs of codes."""
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


def annotated(subtype: str, look: bytes | Mapping[str, bytes] | None = b"0 0 9 9 re f", **entries: Any) -> bytes:
    """An annotation away from the text, in print too, with an appearance or one for each state."""

    def form(document: pikepdf.Pdf, data: bytes) -> Any:
        return stream(document, data, Subtype=Name.Form, BBox=Array([0, 0, 100, 40]))

    def resources(document: pikepdf.Pdf, page: Any) -> None:
        found = {
            "Type": Name.Annot,
            "Subtype": Name("/" + subtype),
            "Rect": Array([60, 300, 160, 340]),
            "F": 4,
            **entries,
        }
        if isinstance(look, bytes):
            found["AP"] = Dictionary(N=form(document, look))
        elif look is not None:
            found["AP"] = Dictionary(N=Dictionary({f"/{state}": form(document, data) for state, data in look.items()}))
        annotation = document.make_indirect(Dictionary({f"/{key}": value for key, value in found.items()}))
        page.Annots = Array([annotation])
        if "FT" in entries:
            document.Root.AcroForm = Dictionary(Fields=Array([annotation]))

    return drawn(TEXT, resources)
