"""Contents are certain where they consist of known operators with their operands, and of nothing else."""

import time
import zlib

import pytest

from paraph.pdf.structure.graphics_state import CLEAN, Ending, ending, without_strays

CERTAIN = [
    b"",
    b"q 1 0 0 1 5 5 cm Q",
    b"q\n1 0 0 1 5 5 cm\r/Im0 Do% ) ( <\nQ",
    b"BT /F1 12 Tf 1 0 0 -1 .5 -5. Tm (a (b (c)) \\) \\\\) Tj <48 69> Tj [(a)-20(b\\222) 5 .5 <41>] TJ T* ET",
    b"T* (c) ' 1 2 (d) \" (e)Tj",
    b"[(a)]TJ[(b)-1.5(c)]TJ T*",
    b"/P <</MCID 0/Lang (de)/A <</B [1 /C]>>/D<41>/E true>> BDC EMC /Artifact BMC EMC /OC /layer BDC EMC /T MP",
    b"0 0 m 1 1 l 1 1 2 2 3 3 c 1 1 2 2 v h W* n 1 1 2 2 re f* 0 0 m 1 0 0 rg 5 5 l S",
    b"/Cs cs 1 0 .5 /P1 scn /P2 SCN .1 .2 .3 .4 k 1 g 0.5 G 1 2 3 rg [] 0 d [1 2] 0 d /G gs 1 w 0 J 0 j 4 M /S sh",
    b"W 0 0 m 9 9 l S 2 J 7 Tr 0 0 9 9 re W* 1 g f",
    b"BI /W 1 /H 1 /BPC 8 /CS /G ID x EI q BI /IM true /W 9 /H 2 ID abcd\nEI Q",
    b"BI /W 2 /H 1 /BPC 8 /CS [/I /RGB 1 <000000ffffff>] /D [0 1] /DP <</K 1>> ID \0\1 EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /RGB /F /AHx ID 00 ff 00 > EI BI /W 1 /H 1 /F [/A85 /Fl] ID abc~>EI ",
    b"BI /W 1 /H 1 /F /Fl /BPC 8 /CS /G ID " + zlib.compress(b"x") + b"\nEI",
    b"BI /W 1 /H 1 /F /DCT /BPC 8 /CS /G ID \xff\xd8\xff\xe0\0\4\xff\xd9\xff\xda\0\2ab\xff\xd9 EI",
    b"q BI /W 1 /H 1 /F /CCF /BPC 1 /CS /G ID abc\nEI Q\n",
    b"BI /W 9 /H 1 /F /RL /BPC 8 /CS /G ID \x02abc\xfe \x80 EI",
    b"BX 1 i EX /Perceptual ri 10 Tc 2 Tw 100 Tz 3 TL 0 Tr 1 Ts 5 5 Td 5 5 TD",
]
UNCERTAIN = [
    b"W n",
    b"0 0 9 9 re f W* n",
    b"BT q ET Q",
    b"q BT Q ET",
    b"(abc",
    b"(a\\)",
    b"(a (b)",
    b"<41",
    b"<4x>",
    b"<~ab~>",
    b"[1 2",
    b"[(a) q] TJ",
    b"/P <</A 1",
    b"/P <</A>> BDC EMC",
    b"/P <</A 1 2>> BDC EMC",
    b"BI /W 1 /H 1 /BPC 8 /CS /G ID abc EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G ID (",
    b"BI /W 1 /H 1 /BPC 8 /CS /G ID x",
    b"BI /W 1 /W 1 /H 1 /BPC 8 /CS /G ID x EI",
    b"BI /W 1 /Width 1 /H 1 /BPC 8 /CS /G ID x EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /Own ID x EI",
    b"BI /W 4 /H 1 /BPC 8 /CS /G ID xEI  EI",
    b"BI /W 5 /H 1 /BPC 8 /CS /G ID xEI x EI",
    b"BI /W 99999 /H 99999 /BPC 8 /CS /G ID x EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /F /Fl ID x EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /F /Own ID x EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /F /DCT ID x EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /F /RL ID \x05x EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /F /LZW ID x EI 1 g",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /F /CCF ID x EI EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G ID\r\nx EI",
    b"BI /W 1 /H 1 /BPC 8 /CS /G /Own 1 ID x EI",
    b"8 Tr",
    b"3 J",
    b"12345678 w",
    b"1." + b"0" * 31 + b" w",
    b"/F\xff gs",
    b"(a\rb) Tj",
    b"(\\400) Tj",
    b"[(a)--5(b)] TJ",
    b"[(a)5-5(b)] TJ",
    b"[9 0 R] TJ",
    b"}",
    b"{",
    b"]",
    b">>",
    b"q ) Q",
    b"(a) ) Tj",
    b"cm",
    b"1 0 0 1 5 cm",
    b"1 2 3 m 1 1 l S",
    b"(a) w",
    b"9 Tf",
    b"/F1 Tf",
    b"foo",
    b"1 0 0 RG 1 0 0 R",
    b"1.2.3 w",
    b"--5 w",
    b"1e5 w",
    b"true w",
    b"1 2",
    b"(a)",
    b"/a",
    b"1 1 l S",
    b"0 0 m 9 9 l",
    b"0 0 9 9 re W",
    b"0 0 m 9 9 l W 1 0 0 rg",
    b"1 0 d0",
    b"1 g % a comment without an end",
    b"/" + b"n" * 200 + b" gs",
    b"q " * 1000,
    b"1 gq",
    b"\\( q",
]


@pytest.mark.parametrize("contents", CERTAIN)
def test_what_is_certain(contents: bytes) -> None:
    assert ending([contents]) == CLEAN


AROUND = [(b"", b""), (b"q BT (a) Tj ET Q ", b"")]
AROUND += [(b"", after) for after in (b" /P BMC", b" /P <</MCID 0>> BDC", b" /P BMC EMC", b" q Q")]


@pytest.mark.parametrize("contents", UNCERTAIN)
def test_what_is_not_nor_what_ends_as_if_it_were(contents: bytes) -> None:
    assert [each for each in AROUND if ending([each[0] + contents + each[1]]) is not None] == []


@pytest.mark.parametrize("contents", [*(each for each in UNCERTAIN if b" m 9 9 l" not in each), b"1 m", b"0 0 m c"])
def test_nor_a_path_that_only_the_next_stream_paints(contents: bytes) -> None:
    painted = contents.endswith(b"re W")
    assert (ending([contents + b" ", b" S"]) == CLEAN) is painted


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (b"q q Q", Ending(states=1)),
        (b"Q q", Ending(states=1, strays=True)),
        (b"q (Q) Tj", Ending(states=1)),
        (b"q (\\) Q (a)) Tj", Ending(states=1)),
        (b"q % Q\n", Ending(states=1)),
        (b"q /Q gs <</A (Q)>> ", None),
        (b"/OC /a BDC /B BMC EMC EMC EMC /C BMC", Ending(marked=1)),
        (b"BT BT ET", CLEAN),
        (b"q BT /A BMC (ET EMC Q) Tj", Ending(1, 1, True)),
    ],
)
def test_what_is_left_open(contents: bytes, expected: Ending | None) -> None:
    assert ending([contents]) == expected


def test_white_space_parts_two_streams() -> None:
    assert ending([b"q", b" Q "]) == CLEAN
    assert ending([b"q ", b"", b"Q"]) == CLEAN
    assert ending([b"q", b"Q"]) is None  # one word to poppler
    assert ending([b"(a ", b" b) Tj"]) is None
    assert ending([b"q % a ", b" comment\nQ"]) is None
    assert ending([b"BI /W 1 /H 1 /BPC 8 /CS /G ", b" ID a EI"]) is None
    assert ending([b"1 0 0 1 5 5 ", b" cm"]) == CLEAN
    assert ending([b"1 0 0 1 5 5", b"cm"]) is None
    assert ending([b"0 0 m 5 5 l ", b" S"]) == CLEAN


def test_strays_are_taken_out_and_nothing_else() -> None:
    assert without_strays([b"Q (Q) Tj q Q", b" Q 1 g"]) == b"  (Q) Tj q Q\n   1 g"
    assert ending([without_strays([b"Q q Q Q q Q"])]) == CLEAN


@pytest.mark.parametrize(
    "piece",
    [b"(", b"[", b"<", b"0 ", b"0 0 m ", b"(a", b"[(a)", b"/a ", b"%", b"<<", b"\\", b"q ", b"0 0 m 1 g ", b"/a <</b "],
)
def test_no_contents_take_long(piece: bytes) -> None:
    started = time.process_time()
    ending([piece * (1_000_000 // len(piece))])
    assert time.process_time() - started < 3
