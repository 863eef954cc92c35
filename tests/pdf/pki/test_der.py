"""DER in and out, and BER of other programs turned into DER."""

import hashlib
import tracemalloc
from collections.abc import Callable, Container
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from random import Random

import pytest
from asn1crypto import core, tsp
from hypothesis import example, given
from hypothesis import strategies as st

from paraph.pdf.pki import der
from paraph.pdf.pki.der import DerError, der_of
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import TokenRefused, check_token, timestamp_request
from tests.pdf.sealed_files import OWN

DIGEST = hashlib.sha256(b"content").digest()
BUILT_IN = BuiltInAuthority(OWN.timestamp_key)
_STRINGS = {der.BIT_STRING, der.OCTET_STRING, der.UTF8_STRING, *range(0x12, 0x1D), 0x1E}
_MOST_SPLIT = 4


def as_ber(encoded: bytes, odds: Callable[[], float], keep: Container[bytes] = ()) -> bytes:
    """Return the one value of ``encoded`` as BER, in all ways that X.690 leaves to the writer: lengths without end or
    longer than needed, strings in parts. ``odds``: a number from 0 to 1 for each choice; 0 changes nothing.
    ``keep``: values within that stay as they are, such as certificates, whose signatures are over their bytes."""
    if encoded in keep:
        return encoded
    value = der.read(encoded)
    if value.tag in _STRINGS and odds() > 0.6:
        return _framed(value.tag | der.CONSTRUCTED, _in_parts(value.tag, value.content, odds), odds)
    if not value.tag & der.CONSTRUCTED:
        return _framed(value.tag, value.content, odds)
    parts = (as_ber(part.raw, odds, keep) for part in der.elements(value.content))
    return _framed(value.tag, b"".join(parts), odds)


def indefinite_outside(encoded: bytes) -> bytes:
    """Return the same value with nothing but its outermost length left open."""
    value = der.read(encoded)
    return bytes((value.tag, 0x80)) + value.content + b"\0\0"


def _in_parts(tag: int, content: bytes, odds: Callable[[], float]) -> bytes:
    unused, bits = (content[:1], content[1:]) if tag == der.BIT_STRING else (b"", content)
    size = max(len(bits) // _MOST_SPLIT, 1)
    parts = [bits[start : start + size] for start in range(0, len(bits), size)] or [b""]
    part_tag = der.BIT_STRING if tag == der.BIT_STRING else der.OCTET_STRING
    leads = [b"\0" * len(unused)] * (len(parts) - 1) + [unused]
    return b"".join(as_ber(der.tlv(part_tag, lead, part), odds) for lead, part in zip(leads, parts, strict=True))


def _framed(tag: int, content: bytes, odds: Callable[[], float]) -> bytes:
    chosen = odds()
    if tag & der.CONSTRUCTED and chosen > 0.6:
        return bytes((tag, 0x80)) + content + b"\0\0"
    if chosen > 0.4:
        return bytes((tag, 0x84)) + len(content).to_bytes(4, "big") + content
    return der.tlv(tag, content)


@cache
def token() -> bytes:
    return der.read(BUILT_IN.answer(timestamp_request(DIGEST, 5))).children()[1].raw


def stamped(name: str) -> bytes:
    return hashlib.new(name, b"content").digest()


@given(st.integers(-(2**200), 2**200))
@example(0)
@example(127)
@example(128)
@example(-128)
def test_integers_are_those_of_asn1crypto(value: int) -> None:
    assert der.integer(value) == core.Integer(value).dump()
    assert der.read(der.integer(value)).integer() == value


@given(st.lists(st.integers(0, 2**70), min_size=1, max_size=8), st.integers(0, 2), st.integers(0, 39))
def test_identifiers_come_back(rest: list[int], first: int, second: int) -> None:
    dotted = ".".join(map(str, [first, second, *rest]))
    if len(der.oid(dotted)) < 60:
        assert der.read(der.oid(dotted)).oid() == dotted


@given(st.binary(max_size=70_000))
def test_lengths_are_those_of_asn1crypto(content: bytes) -> None:
    assert der.octet_string(content) == core.OctetString(content).dump()
    assert der.read(der.octet_string(content)).octets() == content


@given(st.datetimes(datetime(1950, 1, 1), datetime(2400, 1, 1)))  # noqa: DTZ001  the strategy wants naive limits
def test_times_come_back_to_the_millisecond(naive: datetime) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(hours=2)))
    encoded = der.generalized_time(moment)
    back = der.read(encoded).generalized_time()
    assert back == moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert back.tzinfo is UTC
    assert core.GeneralizedTime.load(encoded).native == back


def test_what_is_not_one_value_is_refused() -> None:
    for encoded in ("", "30", "30800000", "30850000000000", "300500", "1f810100", "020101020101"):
        with pytest.raises(DerError):
            der.read(bytes.fromhex(encoded))


@given(st.binary(max_size=300))
def test_garbage_is_refused_and_never_raises_anything_else(content: bytes) -> None:
    with pytest.raises(TokenRefused):
        check_token(content, stamped)
    tsp.TimeStampResp.load(BUILT_IN.answer(content))


@given(st.data())
def test_mangled_tokens_are_refused_or_mean_the_same(data: st.DataObject) -> None:
    original = token()
    start = data.draw(st.integers(0, len(original)))
    end = data.draw(st.integers(start, min(len(original), start + 40)))
    mangled = original[:start] + data.draw(st.binary(max_size=40)) + original[end:]
    genuine = check_token(original, stamped)
    try:
        assert check_token(mangled, stamped).time == genuine.time
    except TokenRefused:
        return


@given(st.data())
def test_mangled_requests_are_answered(data: st.DataObject) -> None:
    original = timestamp_request(DIGEST, 5)
    start = data.draw(st.integers(0, len(original)))
    mangled = original[:start] + data.draw(st.binary(max_size=20)) + original[start + data.draw(st.integers(0, 20)) :]
    status = der.read(BUILT_IN.answer(mangled)).children()[0].children()[0].integer()
    assert status in {0, 2}


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
    assert der_of(as_ber(value, chance.random) + rest) == value + rest
    assert der_of(value + rest) == value + rest


@given(st.lists(st.binary(max_size=100), min_size=1))
def test_strings_in_parts_are_those_of_asn1crypto(parts: list[bytes]) -> None:
    written = b"\x24\x80" + b"".join(map(der.octet_string, parts)) + b"\0\0"
    assert der.read(der_of(written)).octets() == core.OctetString.load(written).native


@given(st.randoms(use_true_random=False))
def test_a_whole_token_comes_back(chance: Random) -> None:
    assert der_of(as_ber(token(), chance.random)) == token()
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
        b"\x23\x08\x03\x02\x01\x80\x03\x02\x00\x80",  # unused bits in a part before the last
        b"\x23\x02\x03\x00",
        b"\x1f\x81\x01\x00",
        b"\x30\x80" * 100 + b"\0\0" * 100,
        b"\x30\x80" * 10_000 + b"\0\0" * 10_000,
        b"\x24\x80" * 10_000 + b"\0\0" * 10_000,
        b"\x30\x84\x40\x00\x00\x00" + b"\0" * 50,  # says that it has 1 GB
        b"\x24\x84\x40\x00\x00\x00" + b"\x04\x01a",
        b"\x30\x80" + b"\x05\x00" * 500_001 + b"\0\0",
        bytes(32 * 1024 * 1024 + 1),
    ],
    ids=lambda encoded: f"{encoded[:8].hex()} of {len(encoded)}",
)
def test_what_is_no_ber_or_too_much_of_it_is_refused(encoded: bytes) -> None:
    with pytest.raises(DerError):
        der_of(encoded)


def test_the_work_grows_with_the_bytes_alone() -> None:
    """The peak of memory is measured: a nested value in parts is not copied once for each level."""
    largest = dict[int, int]()
    for size in (1 << 20, 1 << 22):
        content = b"".join(der.octet_string(bytes(1 << 10)) for _ in range(size >> 10))
        value = b"\x30\x80" * 60 + b"\x24\x80" + content + b"\0\0" * 61
        tracemalloc.start()
        assert len(der_of(value)) > size
        largest[size] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert largest[1 << 22] < 5 * largest[1 << 20] and largest[1 << 20] < 16 << 20
