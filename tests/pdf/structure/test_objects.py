"""The objects of PDF, read and written."""

from typing import Any

import pikepdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import Ref, Unsafe, number, parse, serialized, text_string


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"<</F1 <</Type /Font>> /F12[1 2]/N3 null /S4(x)/B5 true>>", None),
        (b"<</F1<</A 1>>>>", {b"/F1": {b"/A": 1}}),
        (b"<</A 12 0 R/B 1.5/C -7/D/E/F<AB>/G(a(b)\\)c)/H[1 0 R 2 0 R]>>", None),
        (b"<< % a comment >>\n /A % another\n 1 >>", {b"/A": 1}),
        (b"[ 1 0 R 2 0 R]", [Ref(1), Ref(2)]),
        (b"[1 0 R 3 null true (x) <20> /N]", [Ref(1), 3, None, b"true", b"(x)", b"<20>", b"/N"]),
        (b"[1 0 0 1 0 0]", [1, 0, 0, 1, 0, 0]),
        (
            b"<</A[/B/C]/D[[/E 5]/F]/G[1 -2 +3 .5 6.]>>",
            {b"/A": [b"/B", b"/C"], b"/D": [[b"/E", 5], b"/F"], b"/G": [1, -2, 3, b".5", b"6."]},
        ),
        (b"[/A<</B(a(b))>>[]/C]", [b"/A", {b"/B": b"(a(b))"}, [], b"/C"]),
        (b"[1 2-3]", Unsafe),
        (b"[1 -]", Unsafe),
        (b"/A#42", b"/AB"),
        (b"/A#20B", b"/A#20B"),
        (b"<</A 1/A 2>>", Unsafe),
        (b"<<>>", {}),
        (b"<</A 1 0 Rx>>", Unsafe),
        (b"<</A 1 0>>", Unsafe),
        (b"<</A>>", Unsafe),
        (b"<</A (unclosed>>", Unsafe),
        (b"[1 2", Unsafe),
        (b"[1 >>", Unsafe),
        (b"[" * 5000, Unsafe),
        (b"[/N" * 101 + b"]" * 101, Unsafe),
    ],
)
def test_parsing(text: bytes, value: Any) -> None:
    if value is Unsafe:
        with pytest.raises(Unsafe):
            parse(text, 0)
        return
    parsed, end = parse(text, 0)
    assert end == len(text)
    assert parse(serialized(parsed), 0)[0] == parsed
    if value is not None:
        assert parsed == value
    if b" R" not in text and text.count(b"/A ") < 2:  # what qpdf parses without a document around it
        assert pikepdf.Object.parse(serialized(parsed)) == pikepdf.Object.parse(text)


_ALPHABET = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="()<>[]{}/%#")
_SCALARS = st.one_of(
    st.none(),
    st.integers(-(10**9), 10**9),
    st.sampled_from([b"true", b"false", b"1.5", b"-.5", b"(a (b) \\) c)", b"<0aF>", b"()"]),
    st.text(_ALPHABET).map(lambda text: b"/" + text.encode()),
    st.builds(Ref, st.integers(0, 9999999), st.integers(0, 65535)),
)
_OBJECTS = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text(_ALPHABET).map(lambda text: b"/" + text.encode()), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(_OBJECTS)
def test_what_is_written_reads_the_same(value: Any) -> None:
    text = serialized(value)
    assert parse(text, 0) == (value, len(text))
    tight = text.replace(b"\n>>", b">>").replace(b"] ", b"]").replace(b"> ", b">")
    assert parse(tight, 0)[0] == value or b"(" in text


@given(st.binary(max_size=200))
def test_anything_else_is_unsafe_and_no_crash(text: bytes) -> None:
    try:
        value, end = parse(text, 0)
    except Unsafe:
        return
    assert 0 < end <= len(text)
    serialized(value)


@given(st.text())
def test_text_strings(text: str) -> None:
    token = text_string(text)
    assert str(pikepdf.Object.parse(token)) == text or "\r" in text or "\n" in text
    plain = string_bytes(token)
    assert (plain[2:].decode("utf-16-be") if plain[:2] == b"\xfe\xff" else plain.decode("ascii")) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, b"0"), (-0.000001, b"0"), (1.5, b"1.5"), (100.0, b"100"), (1 / 3, b"0.33333")]
)
def test_numbers(value: float, text: bytes) -> None:
    assert number(value) == text
