"""BER written anew as DER."""

from random import Random

import pytest
from asn1crypto import core
from hypothesis import given
from hypothesis import strategies as st

from paraph.pdf.pki import der
from paraph.pdf.pki.der import DerError, der_of
from tests.pdf.pki.ber_writer import as_ber, chosen_by, indefinite_outside
from tests.pdf.pki.test_der import token

_VALUES = st.recursive(
    st.one_of(
        st.binary(max_size=300).map(der.octet_string),
        st.text(max_size=50).map(der.utf8_string),
        st.binary(max_size=40).map(lambda bits: der.tlv(der.BIT_STRING, b"\0", bits)),
        st.integers(0, 7).map(lambda unused: der.tlv(der.BIT_STRING, bytes([unused]), b"\x80")),
        st.integers().map(der.integer),
        st.just(der.tlv(der.NULL)),
    ),
    lambda inner: st.tuples(
        st.sampled_from([der.SEQUENCE, der.SET, 0xA0, 0xA3]), st.lists(inner, max_size=5).map(b"".join)
    ).map(lambda each: der.tlv(each[0], each[1])),
    max_leaves=20,
)


@given(_VALUES, st.randoms(use_true_random=False), st.sampled_from([b"", b"\0\0\0", b"more"]))
def test_whatever_way_a_value_is_written_its_der_comes_back(value: bytes, chance: Random, rest: bytes) -> None:
    assert der_of(as_ber(value, chosen_by(chance)) + rest) == value + rest
    assert der_of(value + rest) == value + rest


@given(st.lists(st.binary(max_size=100), min_size=1))
def test_strings_in_parts_are_those_of_asn1crypto(parts: list[bytes]) -> None:
    written = b"\x24\x80" + b"".join(map(der.octet_string, parts)) + b"\0\0"
    assert der.read(der_of(written)).octets() == core.OctetString.load(written).native


@given(st.randoms(use_true_random=False))
def test_a_whole_token_comes_back(chance: Random) -> None:
    assert der_of(as_ber(token(), chosen_by(chance))) == token()
    assert der_of(indefinite_outside(token())) == token()


@given(st.binary(max_size=60))
def test_anything_else_is_refused(content: bytes) -> None:
    try:
        assert der_of(content)
    except DerError:
        return


@pytest.mark.parametrize(
    "encoded",
    [
        b"",
        b"\x30",
        b"\x30\x80\x05\x00",  # no end
        b"\x30\x04\x30\x80\x05\x00\x00\x00",  # an end beyond the value around it
        b"\x04\x80\x00\x00",  # no length, and no parts
        b"\x30\xff" + b"\0" * 127,  # a length of the form that X.690 reserves
        b"\x30\x85\x01",
        b"\x30\x02\x00\x00",  # the marker of an end where nothing was open
        b"\x24\x03\x0c\x01a",  # parts of another kind
        b"\x23\x08\x03\x02\x01\x80\x03\x02\x00\x80",  # bits that end within
        b"\x23\x02\x03\x00",
        b"\x1f\x81\x01\x00",
        b"\x30\x80" * 100 + b"\0\0" * 100,
        b"\x30\x80" + b"\x05\x00" * 500_001 + b"\0\0",
        bytes(32 * 1024 * 1024 + 1),
    ],
    ids=lambda encoded: f"{encoded[:8].hex()} of {len(encoded)}",
)
def test_what_is_no_ber_or_too_much_of_it_is_refused(encoded: bytes) -> None:
    with pytest.raises(DerError):
        der_of(encoded)
