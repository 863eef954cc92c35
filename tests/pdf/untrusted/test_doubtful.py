"""What readers draw differently is drawn by a second renderer, told, written anew or refused; similar files that they
draw alike are sealed as they are, and nothing is told about them."""

from typing import Any

import pytest
from pikepdf import Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import check_plain_form
from tests.pdf.doubtful_files import (
    BITS,
    GRAY,
    MASK,
    PIXELS,
    TEXT,
    annotated,
    cff,
    coloured,
    composite,
    differing,
    embedded,
    form,
    glyphs,
    grouped,
    image,
    jpeg,
    numbered,
    of_state,
    opentype,
    picture,
    profile,
    standard,
    truetype,
)
from tests.pdf.pdf_factory import HELVETICA, Stream, paper
from tests.sampled import sampled

_D65 = [0.9505, 1, 1.089]
_SRGB = [0.4124, 0.2126, 0.0193, 0.3576, 0.7152, 0.1192, 0.1805, 0.0722, 0.9505]
_GAMMA: dict[str, Any] = {"WhitePoint": _D65, "Gamma": [2.2, 2.2, 2.2]}
_PAINT = "0 0 9 9 re f"
_U, _V, _PRIVATE = {0x31: "one", 0x39: "nine"}, {0x31: "nine", 0x39: "one"}, {0xF031: "one", 0xF039: "nine"}
_LATIN, _MAC = Name.WinAnsiEncoding, Name.MacRomanEncoding
_IMAGE = "q 700 0 0 700 0 0 cm BI /W 1 /H 1 /IM true ID a EI Q"
_LINE = "60 300 m 300 300 l S"
_CIDS = ("CIDFontType2", "FontFile2", truetype((3, 1, _U)))
_BILEVEL: dict[str, Any] = {**GRAY, "BitsPerComponent": 1}
_FAX: dict[str, Any] = {**_BILEVEL, "Filter": Name.CCITTFaxDecode, "DecodeParms": {"K": -1, "Columns": 4, "Rows": 2}}
_JBIG2: dict[str, Any] = {**_BILEVEL, "Filter": Name.JBIG2Decode}


def defaults(name: str, space: Any) -> bytes:
    """A page on which ``space`` replaces a device colour space, by the entry ``name``."""
    return paper(f"0 g {TEXT}", resources={"ColorSpace": {name: space}})


def indexed(last: int, colours: bytes) -> dict[str, Any]:
    return {**GRAY, "ColorSpace": [Name.Indexed, Name.DeviceGray, last, colours]}


_CHOICES: dict[str, Any] = {"FT": Name.Ch, "T": "a", "V": "b", "DA": "/Helv 9 Tf 0 g"}
_PRESSED = {"Yes": "0 0 9 9 re f", "Off": " "}
_INKS = "0 0 0 1 k 60 300 200 100 re f 0 0.5 0 0 k 80 320 100 50 re f"
TOLD = {
    "widths of a font that all have": standard("Helvetica", _LATIN, FirstChar=49, LastChar=49, Widths=[100]),
    "a point as a line": paper("40 w 2 J 100 600 m 100 600.0 l S 200 600 m 200 600 l S"),
    "a line that closes at once": paper("40 w 2 J 200 600 m h S"),
    "a rectangle of no width": paper("60 600 0 40 re f"),
    "a rectangle of no height": paper("60 600 40 0.0 re f"),
    "drawings of other widths": glyphs("500 0 d0"),
    "drawings whose widths are not told": glyphs("1000 0 d0", FirstChar=48, LastChar=48),
    "drawings of no box": glyphs("1000 0 d0", FontBBox=None),
    "colours in a mask": glyphs(
        "1000 0 0 0 700 700 d1", draws="q 700 0 0 700 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID a EI Q"
    ),
    "a fax of nothing": picture(b"", **_FAX),
    "a JBIG2 image of nothing": picture(b"", **_JBIG2),
    "brightness of other colours": of_state(BM=Name.Luminosity),
    "a difference of inks": grouped(Name.DeviceCMYK, Name.Difference),
    "inks over others": of_state(_INKS, OP=True, op=True, OPM=1),
    "a choice that is shown otherwise": annotated("Widget", None, Opt=[["", "9"]], **_CHOICES),
    "a choice by its number": annotated("Widget", None, Opt=["", "c"], I=[1], **_CHOICES),
    "a button in a state that it has not": annotated("Widget", _PRESSED, FT=Name.Btn, T="a", AS=Name.No),
    "a state saved within text": paper("BT /F1 40 Tf 60 600 Td q 1 0 0 1 60 300 Tm Q (1,000) Tj ET"),
    "a clip by no path": paper(f"W n {TEXT}"),
    "the default of grey inverted": defaults("DefaultGray", [Name.Indexed, Name.DeviceGray, 1, b"\xff\0"]),
    "a knockout group": form("", Group={"S": Name.Transparency, "K": True}),
    "widths of CIDs told twice": composite(*_CIDS, W=[1, 2, 300, 1, [1500, 1500]]),
    "widths of CIDs cut short": composite(*_CIDS, W=[1, 2]),
    "widths of CIDs by names": composite(*_CIDS, W=[Name.A, 1, 2, 1500]),
    "CIDs of OpenType that has its own": composite("CIDFontType0", "FontFile3", numbered(), "OpenType"),
    "drawings that are moved": glyphs("1000 0 d0", matrix=(0.001, 0, 0, 0.001, 9, 0)),
    "drawings that are turned": glyphs("1000 0 d0", matrix=(0.001, 0.001, 0, 0.001, 0, 0)),
    "a line of less than nothing": paper("-20 w 60 600 m 300 600 l S"),
    "a line of less than nothing by a state": of_state(LW=-20),
    "an image within contents": paper(f"{_IMAGE} {TEXT}"),
    "a fax that does not end": picture(b"\xff" * 9, **_FAX),
    "a JBIG2 image of another size": picture(bytes(4) + b"0\0\1\0\0\0\x13" + bytes([0, 0, 0, 8] * 2), **_JBIG2),
    "a transparent highlight with an appearance": annotated("Highlight", CA=0),
    "a password that is shown": annotated("Widget", FT=Name.Tx, T="a", Ff=1 << 13, V="9"),
    "a colour space without a colour": paper(f"/DeviceRGB cs 1 0 0 sc /DeviceGray cs {_PAINT}"),
    "a colour space of lines without a colour": paper(f"/DeviceRGB CS {_LINE}"),
    "a colour set within a string": paper("/DeviceRGB cs BT /F1 9 Tf (1 1 1 sc) Tj ET"),
    "a colour between names of images": paper(f"BT /F1 9 Tf ( BI ) Tj /DeviceRGB cs 1 sc {_PAINT} ( EI ) Tj ET"),
    "a colour before an image": paper("/DeviceGray cs BI /W 1 /H 1 /BPC 8 /CS /G ID a EI 1 sc"),
    "too many operands": paper(f"/DeviceGray cs 1 0 0 scn {_PAINT}"),
    "too few operands": paper(f"/DeviceRGB cs 1 sc {_PAINT}"),
    "too few operands in a space of its own": coloured([Name.Lab, {"WhitePoint": _D65}], "/C cs 1 scn"),
    "operands for black": paper(f"1 0 0 sc {_PAINT}"),
    "operands after a comment": paper(f"/DeviceGray cs %\n1 0 0 scn {_PAINT}"),
    "a font in a state": of_state(Font=[HELVETICA, 30]),
    "an expert encoding": standard("Helvetica", Name.MacExpertEncoding),
    "an expert base": standard("Helvetica", differing(65, "A", BaseEncoding=Name.MacExpertEncoding)),
    "pictograms as letters": standard("ZapfDingbats", _LATIN),
    "symbols in place of others": standard("Symbol", differing(49, "nine")),
    "a symbol map for letters": embedded("TrueType", "FontFile2", truetype((3, 0, _PRIVATE)), _LATIN),
    "a Macintosh map of other names": embedded("TrueType", "FontFile2", truetype((1, 0, _V)), _MAC),
    "two maps that differ": embedded("TrueType", "FontFile2", truetype((1, 0, _V), (3, 1, _U)), flags=4),
    "a map of two ranges": embedded("TrueType", "FontFile2", truetype((3, 0, {**_U, **_PRIVATE})), flags=4),
    "a map of another range": embedded("TrueType", "FontFile2", truetype((3, 0, {0xF131: "one"})), flags=4),
    "no map": embedded("TrueType", "FontFile2", truetype(), flags=4),
    "TrueType in a font of Type 1": embedded("Type1", "FontFile2", truetype((3, 1, _U)), _LATIN),
    "CFF as TrueType": embedded("TrueType", "FontFile2", cff(), _LATIN),
    "CFF in a TrueType font": embedded("TrueType", "FontFile3", cff(), _LATIN, kind="Type1C"),
    "CFF as Type 1": embedded("Type1", "FontFile", cff(), _LATIN),
    "no program": embedded("Type1", "FontFile3", b"junk" * 9, _LATIN, kind="Type1C"),
    "a cut program": embedded("Type1", "FontFile3", cff()[:20], _LATIN, kind="Type1C"),
    "a name that the program lacks": embedded("Type1", "FontFile3", cff(), differing(49, "two"), kind="Type1C"),
    "TrueType in a font of CIDs": composite("CIDFontType0", "FontFile2", truetype((3, 1, _U))),
    "a glyph beyond its box": glyphs("1000 0 0 0 10 10 d1"),
    "a glyph of no box": glyphs("1000 0 0 0 0 0 d1"),
    "an image beyond the box": glyphs("1000 0 0 0 10 10 d1", draws=_IMAGE),
    "text in a box": glyphs("1000 0 0 0 1000 1000 d1", draws="BT /F1 900 Tf (1) Tj ET"),
    "a glyph that no code has": glyphs("1000 0 d0", names=("A", "one")),
    "spacing around a form": form("20 Tc"),
    "scaling around a form": form("50 Tz"),
    "text hidden around a form": form("3 Tr"),
    "words apart by an operator": form('BT /F1 9 Tf 20 0 (a b) " ET'),
    "spacing after a comment": form("20 %0\nTc"),
    "spacing around a glyph of text": glyphs("1000 0 d0", "20 Tc", draws="BT /F1 900 Tf (1) Tj ET"),
    "outlines of a glyph": glyphs("1000 0 d0", "1 Tr"),
    "text that clips": paper(f"7 Tr {TEXT} {_PAINT}"),
    "text that fills and clips": paper(f"4 Tr {TEXT}"),
    "text that clips after a comment": paper(f"7 % 0\nTr {TEXT}"),
    "an image too short": picture(PIXELS[:5], **GRAY),
    "an image too long": picture(PIXELS * 2, **GRAY),
    "a mask of bytes": picture(**{**MASK, "BitsPerComponent": 8}),
    "a mask with colours": picture(BITS, **MASK, ColorSpace=Name.DeviceGray),
    "half a mask": picture(BITS, **MASK, Decode=[0.8, 0.2]),
    "a decoding for half of the colours": picture(**GRAY, Decode=[1]),
    "a decoding beyond white": picture(**GRAY, Decode=[0, 255]),
    "a short palette": picture(**indexed(255, b"\xff\x00")),
    "colours beyond the palette": picture(**indexed(1, b"\xff\x00")),
    "a turned palette": picture(**indexed(255, bytes(256)), Decode=[255, 0]),
    "half a colour key": picture(**GRAY, Mask=[0]),
    "a fractional colour key": picture(**GRAY, Mask=[0, 99.5]),
    "a colour key of 16 bits": picture(PIXELS * 2, **{**GRAY, "BitsPerComponent": 16}, Mask=[0, 3000]),
    "an image of patterns": picture(**{**GRAY, "ColorSpace": Name.Pattern}),
    "a JPEG of another size": jpeg(Width=8),
    "a JPEG of other colours": jpeg("RGB"),
    "a JPEG of one bit": jpeg(BitsPerComponent=1),
    "a JPEG as a mask": jpeg(ImageMask=True, BitsPerComponent=1),
    "a JPEG of indexes": jpeg(ColorSpace=[Name.Indexed, Name.DeviceGray, 255, bytes(256)]),
    "a JPEG with a colour key": jpeg(Mask=[0, 9]),
    "a JPEG with another transform": jpeg("CMYK", ColorSpace=Name.DeviceCMYK, DecodeParms={"ColorTransform": 1}),
    "a soft mask that is none": picture(**GRAY, SMask=image(BITS, **MASK)),
    "a soft mask of colours": picture(**GRAY, SMask=image(PIXELS * 3, **{**GRAY, "ColorSpace": Name.DeviceRGB})),
    "a mask of gray": picture(**GRAY, Mask=image(**GRAY)),
    "two masks": picture(**GRAY, SMask=image(**GRAY), Mask=image(BITS, **MASK)),
    "a mask with a soft mask": picture(BITS, **MASK, SMask=image(**GRAY)),
    "a short soft mask": picture(**GRAY, SMask=image(PIXELS[:3], **GRAY)),
    "a gamma of 100": coloured([Name.CalGray, {"WhitePoint": _D65, "Gamma": 100}]),
    "no white": coloured([Name.CalRGB, {**_GAMMA, "Matrix": [0] * 9}], "/C cs 1 1 1 sc"),
    "a profile of junk": coloured([Name.ICCBased, Stream(b"junk", N=1)]),
    "a profile of other colours": coloured(profile(b"RGB ", N=1)),
    "another space for a profile": coloured(profile(b"GRAY", N=1, Alternate=Name.DeviceCMYK)),
    "a profile of no range": coloured(profile(b"GRAY", N=1, Range=[0, 0])),
    "dashes below zero": paper(f"[-5 5] 0 d {_LINE}"),
    "dashes of nothing": paper(f"[0 0] 0 d {_LINE}"),
    "dashes of nothing after a comment": paper(f"[0 0] %\n0 d {_LINE}"),
    "dashes of nothing in a state": of_state(D=[[0], 0]),
    "half a byte": paper("BT /F1 9 Tf 60 600 Td <31393> Tj ET"),
    "an appearance without a place": annotated("Stamp", Rect=[60, 300, 60, 300]),
    "a link with an appearance": annotated("Link"),
    "an invisible stamp": annotated("Stamp", F=5),
    "an unsigned signature": annotated("Widget", FT=Name.Sig, T="a"),
    "a button without a look": annotated("Widget", None, FT=Name.Btn, T="a", Ff=65536, MK={"CA": "9"}),
}
PLAIN = {
    "an ordinary line": paper("40 w 2 J 100 600 m 200 600 l S 100 610 m 100 600 l h S"),
    "an ordinary rectangle": paper("0 0 10 40.0 re f 0 0.0 40 10 re f"),
    "drawings with text before": glyphs("1000.0 0 d0"),
    "an image as a mask": glyphs("1000 0 0 0 700 700 d1", draws=_IMAGE),
    "shadows of inks": grouped(Name.DeviceCMYK, Name.Multiply),
    "a difference of colours for screens": of_state(BM=Name.Multiply),
    "black over others": of_state("0 0 0 1 k 60 300 200 100 re f", OP=True, op=True, OPM=1),
    "inks": paper(_INKS),
    "a choice": annotated("Widget", None, Opt=["", "c"], **_CHOICES),
    "a choice with an appearance": annotated("Widget", Opt=[["", "9"]], **_CHOICES),
    "a button": annotated("Widget", _PRESSED, FT=Name.Btn, T="a", AS=Name.Yes),
    "a button that is off": annotated("Widget", {"Yes": "0 0 9 9 re f"}, FT=Name.Btn, T="a", AS=Name.Off),
    "a state saved beside text": paper(f"q 1 0 0 1 9 9 cm {TEXT} Q"),
    "a clip by the path to come": paper(f"W 0 0 600 800 re n {TEXT}"),
    "a default that looks like the device's": defaults("DefaultRGB", Name.DeviceRGB),
    "a group without knockout": form("", Group={"S": Name.Transparency, "K": False}),
    "widths of CIDs": composite(*_CIDS, W=[1, 2, 300, 3, [1500, 1500]]),
    "a fax to its end": picture(b"\x26\xa0\x00\x10\x01\x00\x10\x01", **_FAX),
    "a JBIG2 image": picture(bytes(4) + b"0\0\1\0\0\0\x13" + bytes([0, 0, 0, 4, 0, 0, 0, 2]), **_JBIG2),
    "a colour in its space": paper(f"/DeviceRGB cs 1 0 0 sc {_PAINT} /DeviceGray CS 1 SC 0 0 m 9 9 l S"),
    "a colour after its space": paper(f"/DeviceRGB cs q 9 w Q 0 0 m 9 9 l S 1 0 0 sc {_PAINT}"),
    "colours in one space": paper(f"/DeviceRGB cs 1 0 0 scn {_PAINT} 0 1 0 scn {_PAINT}"),
    "a colour of another kind": paper(f"/DeviceRGB cs 1 g {_PAINT} 1 sc"),
    "words like operators": paper("BT /F1 9 Tf (the cs sc 1 d 7 Tr % of it) Tj ET"),
    "a state": of_state(D=[[3, 1], 0]),
    "a base": standard("Helvetica", differing(65, "A", BaseEncoding=_MAC)),
    "pictograms": standard("ZapfDingbats", None),
    "letters": embedded("TrueType", "FontFile2", truetype((3, 1, _U), (1, 0, _V)), _LATIN),
    "letters of a Macintosh": embedded("TrueType", "FontFile2", truetype((1, 0, _U)), _MAC),
    "letters without names": embedded("TrueType", "FontFile2", truetype((1, 0, _V), names=False), _MAC),
    "symbols": embedded("TrueType", "FontFile2", truetype((3, 0, _PRIVATE)), flags=4),
    "symbols of two maps": embedded("TrueType", "FontFile2", truetype((3, 0, _PRIVATE), (1, 0, _U)), flags=4),
    "CFF": embedded("Type1", "FontFile3", cff(), _LATIN, kind="Type1C"),
    "CFF in OpenType": embedded("Type1", "FontFile3", opentype(), differing(49, "one"), kind="OpenType"),
    "CFF with names": embedded("Type1", "FontFile3", cff(), differing(49, "g3"), kind="Type1C"),
    "Type 1": embedded("Type1", "FontFile", b"%!PS-AdobeFont-1.0: Test", _LATIN),
    "CIDs of OpenType by names": composite("CIDFontType0", "FontFile3", opentype(), "OpenType"),
    "drawings that are mirrored, as Chrome's": glyphs("1000 0 d0", matrix=(0.001, 0, 0, -0.001, 0, 0)),
    "CIDs of CFF": composite("CIDFontType0", "FontFile3", cff(), "CIDFontType0C"),
    "CIDs of TrueType": composite("CIDFontType2", "FontFile2", truetype((3, 1, _U))),
    "a glyph in its box": glyphs("1000 0 0 0 700 700 d1"),
    "a glyph of lines": glyphs("1000 0 0 0 700 700 d1", draws="0 0 m 700 0 l 350 700 l h f"),
    "a glyph of an image": glyphs("1000 0 0 0 700 700 d1", draws=_IMAGE),
    "a glyph of its own colours": glyphs("1000 0 d0", "20 Tc"),
    "a form": form("20 Tc 0 Tc 100 Tz 0 Tr"),
    "a form of lines": form("20 Tc", _PAINT),
    "a form beside text": form(f"q 20 Tc {TEXT} Q"),
    "unseen text": paper(f"3 Tr {TEXT}"),
    "an image": picture(**GRAY, Decode=[1, 0], Mask=[0, 9]),
    "an image and the end of a line": picture(PIXELS + b"\n", **GRAY),
    "a mask": picture(BITS, **MASK, Decode=[1, 0]),
    "an image with a mask": picture(**GRAY, Mask=image(BITS, **MASK)),
    "an image with a soft mask": picture(**GRAY, SMask=image(**GRAY)),
    "an image before its colours": picture(**GRAY, SMask=image(**GRAY, Matte=[0])),
    "a palette": picture(b"\0\1\0\1\1\1\0\0", **indexed(1, b"\xff\x00")),
    "a JPEG": jpeg(),
    "a JPEG of colours": jpeg("RGB", ColorSpace=Name.DeviceRGB),
    "a JPEG for print": jpeg("CMYK", ColorSpace=Name.DeviceCMYK, Decode=[1, 0] * 4),
    "sRGB": coloured([Name.CalRGB, {**_GAMMA, "Matrix": _SRGB}], "/C cs 1 1 1 sc"),
    "a profile": coloured(profile(b"RGB ", N=3, Alternate=Name.DeviceRGB), "/C cs 1 1 1 sc"),
    "dashes": paper(f"[3 1] 0 d {_LINE} [] 0 d {_LINE}"),
    "hexadecimal digits": paper("BT /F1 9 Tf 60 600 Td <31 39> Tj ET"),
    "a stamp": annotated("Stamp"),
    "a link": annotated("Link", None, Border=[0, 0, 0]),
    "a link with an empty appearance": annotated("Link", " ", Border=[0, 0, 0]),
    "an invisible signature": annotated("Widget", "", FT=Name.Sig, T="a", Rect=[0, 0, 0, 0]),
    "an empty signature": annotated("Widget", "% DSBlank\n", FT=Name.Sig, T="a"),
    "a button to press": annotated("Widget", FT=Name.Btn, T="a", Ff=65536, MK={"CA": "9"}),
}


def masked(**entries: Any) -> bytes:
    group = Stream("1 g 0 0 9 9 re f", Subtype=Name.Form, BBox=[0, 0, 9, 9])
    return of_state(SMask={"S": Name.Luminosity, "G": group, **entries})


def jpx(components: int, boxes: bytes = b"", **entries: Any) -> bytes:
    codes = b"\xff\x4f\xff\x51" + bytes(36) + components.to_bytes(2, "big")
    data = b"\0\0\0\x0cjP  \r\n\x87\n" + boxes + (8 + len(codes)).to_bytes(4, "big") + b"jp2c" + codes
    return picture(data, Width=1, Height=1, Filter=Name.JPXDecode, **entries)


_INVERTS = {"FunctionType": 2, "Domain": [0, 1], "C0": [1], "C1": [0], "N": 1}
_CHANNELS = b"\0\0\0\x18jp2h\0\0\0\x10cdef\0\0\0\0\0\1\0\0"
KNOWN = {
    "letters by their codes": standard("Helvetica", differing(97, "uni0061")),
    "letters by numbers": standard("Helvetica", differing(97, "g97")),
    "a mask with a function": masked(TR=_INVERTS),
    "a transfer function": of_state(TR=_INVERTS),
    "JPEG 2000 of four channels": jpx(4),
    "JPEG 2000 with a channel of opacity": jpx(3, _CHANNELS),
    "JPEG 2000 whose opacity is meant": jpx(3, SMaskInData=1),
}
"""Plain files that are known to be drawn differently."""
KIN = {
    "letters by their names": standard("Helvetica", {"Differences": [97, Name.a, Name.fi, Name.Euro]}),
    "pictograms by numbers": standard("ZapfDingbats", differing(97, "a20")),
    "a mask": masked(TR=Name.Identity),
    "no transfer function": of_state(TR=Name.Identity, TR2=Name.Default),
    "JPEG 2000 of three channels": jpx(3),
}


def told(pdf: bytes) -> list[object]:
    """Return how a file is refused or written anew, or else what is told about it and what no rule decides."""
    try:
        inspection = inspect(pdf, page_limit=1)
    except PdfRefused as refused:
        return [refused.reason]
    if inspection.prepared:
        return [inspection.method]
    plain = check_plain_form(PdfReader(pdf), scanned=False)
    return [*inspection.preflight["drawn_differently"], *plain.remarks.items()]


@pytest.mark.parametrize("kind", sampled(TOLD, 3))
def test_what_readers_draw_differently_is_told(kind: str) -> None:
    assert told(TOLD[kind])


@pytest.mark.parametrize("kind", sampled(PLAIN, 3))
def test_what_they_draw_alike_is_not(kind: str) -> None:
    assert not told(PLAIN[kind])


@pytest.mark.parametrize("kind", KNOWN | KIN)
def test_of_what_is_known_to_be_drawn_differently_the_whole_page_is_told(kind: str) -> None:
    places = inspect((KNOWN | KIN)[kind], page_limit=1).preflight["drawn_differently"]
    whole = {"page_number": 1, "x": 0, "y": 0, "width": 595, "height": 842, "what": "lost"}
    assert [place for place in places if place["what"] == "lost"] == [whole] * (kind in KNOWN)
