"""Streams are unpacked up to a limit and no further, whatever their filters."""

import random
import tracemalloc
import zlib
from typing import Any

import pikepdf
import pytest

from paraph.pdf.structure.contents_grammar import ContentsDecoder, decoded_completely
from paraph.pdf.structure.objects import PdfStream, Unsafe
from paraph.pdf.structure.unpacking import TooLarge, lzw_size, run_length_size, unpacked

MIB = 1 << 20
WORDS = b"q 1 0 0 1 72 700 cm BT /F1 12 Tf (Hello) Tj ET Q\n" * 50


def lzw(data: bytes, *, early: int = 1) -> bytes:
    """Return the data packed by LZW (ISO 32000-1, 7.4.4)."""
    table = {bytes([byte]): byte for byte in range(256)}
    codes: list[tuple[int, int]] = [(256, 9)]
    word, width, following = b"", 9, 258
    for byte in data:
        longer = word + bytes([byte])
        if longer in table:
            word = longer
            continue
        codes.append((table[word], width))
        if following < 4095:
            table[longer] = following
            following += 1
            width = max(width, (following + early - 1).bit_length())
        word = bytes([byte])
        if following >= 4094:
            codes += [(table[word], width), (256, width)]
            table = {bytes([byte]): byte for byte in range(256)}
            word, width, following = b"", 9, 258
    if word:
        codes.append((table[word], width))
    bits = "".join(format(code, f"0{width}b") for code, width in [*codes, (257, width)])
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def runs(data: bytes, times: int) -> bytes:
    return b"".join(bytes([257 - times, byte]) for byte in data) + b"\x80"


def stream(data: bytes, *filters: bytes, parameters: Any = None) -> PdfStream:
    dictionary: dict[bytes, Any] = {b"/Length": len(data), b"/Filter": list(filters)}
    return PdfStream(dictionary if parameters is None else {**dictionary, b"/DecodeParms": parameters}, data)


PACKED = {
    "none": stream(WORDS),
    "flate": stream(zlib.compress(WORDS), b"/FlateDecode"),
    "flate twice": stream(zlib.compress(zlib.compress(WORDS)), b"/FlateDecode", b"/Fl"),
    "hexadecimal": stream(WORDS.hex().encode() + b">", b"/ASCIIHexDecode"),
    "hexadecimal and flate": stream(zlib.compress(WORDS).hex().encode() + b">", b"/AHx", b"/FlateDecode"),
    "lzw": stream(lzw(WORDS), b"/LZWDecode"),
    "lzw and flate": stream(zlib.compress(lzw(WORDS)), b"/FlateDecode", b"/LZW"),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_is_packed_is_unpacked_and_no_further_than_is_asked_for(name: str) -> None:
    assert unpacked(PACKED[name], len(WORDS), complete=True) == WORDS
    assert decoded_completely(PACKED[name]) == WORDS
    with pytest.raises(TooLarge):
        unpacked(PACKED[name], len(WORDS) - 1)
    assert decoded_completely(PACKED[name], len(WORDS) - 1) is None


def test_contents_are_decoded_whole_or_not_at_all() -> None:
    packed, flate = PACKED["flate"].data, {b"/Filter": b"/FlateDecode"}
    predicted = {**flate, b"/DecodeParms": {b"/Predictor": 1}}
    cuts = (packed[:-9], packed[:20], packed[:30] + b"xx" + packed[32:])
    damaged = [PdfStream(each, data) for each in (flate, predicted) for data in cuts]
    odd = [stream(WORDS.hex().encode(), b"/ASCIIHexDecode"), PdfStream({**flate, b"/F": b"(other.bin)"}, packed)]
    odd += [PdfStream({b"/F": b"(other.bin)"}, b""), stream(WORDS, b"/DCTDecode"), stream(WORDS, b"/Unknown"), *damaged]
    assert [each for each in odd if decoded_completely(each) is not None] == []
    assert decoded_completely(stream(packed, b"/FlateDecode", parameters=[None])) == WORDS
    assert decoded_completely(PdfStream(flate, packed)) == WORDS
    assert decoded_completely(PdfStream(flate, b"")) == b""


def test_rows_that_are_predicted() -> None:
    rows = b"".join(b"\x02" + bytes([1]) * 4 for _ in range(10))  # each row is the one above it plus 1
    above = {b"/Predictor": 12, b"/Colors": 1, b"/Columns": 4}
    predicted = stream(zlib.compress(rows), b"/FlateDecode", parameters=[above])
    assert unpacked(predicted, 50) == b"".join(bytes([number]) * 4 for number in range(1, 11))
    with pytest.raises(TooLarge):
        unpacked(predicted, 30)


def test_bombs_take_no_more_memory_than_is_asked_for() -> None:
    """A few kilobytes that unpack to 32 MiB or more."""
    spaces, zeros = zlib.compress(bytes(64 * MIB), 9), b"\x81\x00" * (MIB >> 2) + b"\x80"
    for bomb in (
        stream(spaces, b"/FlateDecode"),
        stream(zlib.compress(spaces, 9), b"/FlateDecode", b"/FlateDecode"),
        stream(zlib.compress(zeros, 9), b"/FlateDecode", b"/RunLengthDecode"),
        stream(zlib.compress(b"z" * 16 * MIB + b"~>", 9), b"/FlateDecode", b"/ASCII85Decode"),
    ):
        tracemalloc.start()
        try:
            with pytest.raises(TooLarge):
                unpacked(bomb, 8 * MIB)
            assert tracemalloc.get_traced_memory()[1] < 32 * MIB, bomb.dictionary
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("early", [0, 1])
def test_the_size_of_lzw_is_that_which_qpdf_unpacks(early: int) -> None:
    chance = random.Random(1)
    for letters in (1, 2, 20, 256):
        data = bytes(chance.choices(range(letters), k=8_000))
        packed = lzw(data, early=early)
        with pikepdf.new() as scratch:
            parameters = pikepdf.Dictionary(EarlyChange=early)
            made = pikepdf.Stream(scratch, packed, Filter=pikepdf.Name.LZWDecode, DecodeParms=parameters)
            assert made.read_bytes() == data
        assert lzw_size(packed, early_change=bool(early), limit=MIB) == len(data)


def test_the_size_of_runs() -> None:
    assert run_length_size(runs(b"abc", 128)) == 3 * 128
    assert run_length_size(b"\x02abc\x80ignored") == 3


def test_too_many_filters_and_parameters_for_others() -> None:
    with pytest.raises(Unsafe):
        unpacked(stream(b"", *[b"/FlateDecode"] * 9))
    with pytest.raises(Unsafe):
        unpacked(stream(zlib.compress(b"a"), b"/FlateDecode", parameters=[None, None]))


def test_contents_are_looked_into_as_far_as_that_takes_seconds() -> None:
    decoder = ContentsDecoder()
    page = [stream(zlib.compress(b" " * 7 * MIB), b"/FlateDecode")]
    assert decoder.decode([*page, *page]) is None  # more than there may be on one page
    assert sum(decoder.decode(page) is not None for _ in range(10)) == 3  # and in a file: 24 of 32 MiB are left
