"""Contents that end in the middle of something, and swallow or hide whatever is drawn after them."""

import zlib
from collections.abc import Callable
from functools import partial
from random import Random

from tests.pdf.odd_files.papers import Raw, contents_number, filled, page, page_number, promise, some

_LAYER = 70
_ENDS: dict[str, list[bytes]] = {
    "string": [b"\nBT /F1 20 Tf (and so", b"\n(", b"\n(()", b"\n(\\"],
    "hexadecimal string": [b"\nBT /F1 20 Tf <4142", b"\n<"],
    "array": [b"\nBT /F1 20 Tf [(and) 20", b"\n[", b"\n[[[1 2] 3"],
    "dictionary": [b"\n/Span <</Lang (en)", b"\n/P << /MCID 0", b"\n<<"],
    "inline image": [
        b"\nq 20 0 0 20 0 0 cm BI /W 400 /H 400 /BPC 8 /CS /RGB ID xxxx",
        b"\nBI /W 1 /H 1 /BPC 8 /CS /G",
        b"\nBI",
        b"\nBI /W 9000 /H 9000 /IM true ID ",
    ],
    "marked content": [b"\n/Span BMC", b"\n/P <</MCID 0>> BDC", b"\n/Artifact BMC /Artifact BMC"],
    "text object": [b"\nBT /F1 20 Tf", b"\nBT 7 Tr /F1 60 Tf 60 200 Td (clip) Tj", b"\nBT 3 Tr"],
    "saved states": [b"\nq q q 3 0 0 3 50 50 cm", b"\nq " * 40 + b".1 0 0 .1 0 0 cm", b"\nQ Q Q Q"],
    "clip": [b"\n0 0 1 1 re W n", b"\n500 500 10 10 re W* n", b"\n0 0 0 0 re W"],
    "path": [b"\n0 0 m 600 0 l 600 900 l", b"\n10 10 50 50 re"],
    "name or number": [b"\n/", b"\n/Span", b"\n1 0 0", b"\n-", b"\n1 0 0 1 0"],
    "comment": [b"\n% and so on", b" %"],
    "graphics state": [b"\n/Gone gs", b"\n1 1 1 rg 1 1 1 RG", b"\n0 0 0 0 0 0 cm"],
}
_OPERANDS = {
    **dict.fromkeys((b"g", b"G", b"w", b"J", b"j", b"M", b"i", b"Tc", b"Tw", b"Tz", b"TL", b"Ts", b"Tr"), 1),
    **dict.fromkeys((b"m", b"l", b"Td", b"TD", b"Tf", b"d"), 2),
    **dict.fromkeys((b"rg", b"RG"), 3),
    **dict.fromkeys((b"k", b"K", b"re", b"v", b"y"), 4),
    **dict.fromkeys((b"cm", b"Tm", b"c"), 6),
    **dict.fromkeys((b"gs", b"Do", b"sh", b"cs", b"CS", b"ri", b"BMC", b"MP", b"Tj", b"TJ", b"'"), 1),
    **dict.fromkeys((b"BDC", b"DP"), 2),
    b'"': 3,
}
"""How many operands each operator needs."""
_NUMBERS = [b"1.2.3", b"--5", b"5-3", b"1e2", b"+-7", b"0x1", b"1,5", b"5-", b"-.-1", b"7..", b"++1", b"- 3"]
_OPENED = [
    *(b"<<", b"/P <</MCID 0", b"/P <</A <</B 1>> BDC", b"BI", b"BI /W 1 /H 1", b"BI /W 1 EI"),
    *(b"BI /W 1 /H 1 /BPC 8 /CS /G ID x", b"BI /W 90 /H 90 /BPC 8 /CS /RGB ID xxxx"),
]


def malformed_operands(chance: Random) -> bytes:
    """An operator with fewer operands than it needs."""
    operator = chance.choice(list(_OPERANDS))
    return _interrupted(chance, b" ".join([b"1"] * chance.randrange(_OPERANDS[operator]) + [operator]))


def malformed_number(chance: Random) -> bytes:
    """An operand that looks like a number and is not one."""
    operator = chance.choice([b"g", b"rg", b"cm", b"re", b"w", b"Tc", b"k", b"m"])
    operands = [b"1"] * _OPERANDS[operator]
    operands[chance.randrange(len(operands))] = chance.choice(_NUMBERS)
    return _interrupted(chance, b" ".join([*operands, operator]))


def opened(chance: Random) -> bytes:
    """A construct that begins in the middle of the contents and does not end."""
    return _interrupted(chance, chance.choice(_OPENED))


def _interrupted(chance: Random, between: bytes) -> bytes:
    """Two promises on a page, and something between them that readers may stop at."""
    one, other = some(chance, 2)
    contents = promise(one) + b"\n" + between + b"\n" + promise(other, 700)
    return bytes(filled(Raw(), [contents], deflated=chance.random() < 0.5).close())


def ending_in(chance: Random, *, kind: str) -> bytes:
    """Contents with one of several endings, in a single stream or in the last of two."""
    one, other = some(chance, 2)
    end = chance.choice(_ENDS[kind])
    raw = filled(Raw(), [promise(one) + end, promise(other)], deflated=chance.random() < 0.5)
    if chance.random() < 0.4:
        raw.stream(40, promise(other, 650))
        raw.put(page_number(0), page(0, contents=b"[%d 0 R %d 0 R]" % (40, contents_number(0))))
    return bytes(raw.close())


def hidden_layer(chance: Random) -> bytes:
    """A layer that is off begins and never ends."""
    properties = b"/OCProperties<</OCGs[%d 0 R]/D<</OFF[%d 0 R]/Order[]>>>>" % (_LAYER, _LAYER)
    end = chance.choice([b"\n/OC /Off BDC", b"\n/OC /Off BDC q", b"\n/OC /Off BDC BT"])
    contents = [promise(some(chance, 1)[0]) + end]
    raw = filled(Raw(), contents, entries=b"/Properties<</Off %d 0 R>>|" % _LAYER, catalog=properties)
    return bytes(raw.put(_LAYER, b"<</Type/OCG/Name(off)>>").close())


def undecodable(chance: Random) -> bytes:
    """Compressed data that breaks off, is rubbish, or names a filter that nobody has."""
    packed = zlib.compress(promise(some(chance, 1)[0]) * 3)
    rubbish = (packed[:20] + chance.randbytes(40), chance.randbytes(60), packed[:-4] + b"\0\0\0\0")
    kinds = [(data, b"/Filter/FlateDecode") for data in (packed[: len(packed) // 2], *rubbish)]
    kinds += [(packed, b"/Filter/Nobody"), (packed, b"/Filter[/ASCIIHexDecode/FlateDecode]")]
    kinds += [(promise(0) + b"\xff" * 30, b"/Filter/ASCII85Decode")]
    kinds += [(packed, b"/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 7>>")]
    data, entries = chance.choice(kinds)
    raw = filled(Raw(), [promise(some(chance, 1)[0])])
    return bytes(raw.stream(contents_number(0), data, entries).close())


def missing(chance: Random) -> bytes:
    """Contents that are no stream, or not there."""
    raw = filled(Raw(), [promise(which) for which in some(chance, 2)])
    value = chance.choice([b"null", b"99 0 R", b"[]", b"[null 99 0 R]", b"(text)", b"<<>>", b"[[%d 0 R]]" % 5])
    return bytes(raw.put(page_number(0), page(0, contents=value)).close())


CLASSES: dict[str, Callable[[Random], bytes]] = {
    **{f"contents: open {kind}": partial(ending_in, kind=kind) for kind in _ENDS},
    "contents: open layer that is off": hidden_layer,
    "contents: undecodable": undecodable,
    "contents: missing": missing,
    "contents: malformed operands": malformed_operands,
    "contents: malformed number": malformed_number,
    "contents: opened in the middle": opened,
}
