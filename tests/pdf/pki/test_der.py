"""The DER reader, the token parser and the authority against bytes that nobody meant to send."""

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from asn1crypto import core, tsp
from hypothesis import example, given
from hypothesis import strategies as st

from paraph.keys import development_authority
from paraph.pdf.pki import der
from paraph.pdf.pki.der import DerError
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import TokenRefused, check_token, timestamp_request

DIGEST = hashlib.sha256(b"content").digest()


@cache
def built_in() -> BuiltInAuthority:
    return BuiltInAuthority(development_authority(Path(mkdtemp()), b"s" * 32).timestamp_key)


@cache
def token() -> bytes:
    return der.read(built_in().answer(timestamp_request(DIGEST, 5))).children()[1].raw


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


@pytest.mark.parametrize(
    "encoded",
    [
        b"",
        b"\x30",
        b"\x30\x80\0\0",
        b"\x30\x85\0\0\0\0\0",
        b"\x30\x05\0",
        b"\x1f\x81\x01\x00",
        b"\x02\x01\x01\x02\x01\x01",
    ],
)
def test_what_is_not_one_value_is_refused(encoded: bytes) -> None:
    with pytest.raises(DerError):
        der.read(encoded)


@given(st.binary(max_size=300))
def test_garbage_is_refused_and_never_raises_anything_else(content: bytes) -> None:
    with pytest.raises(TokenRefused):
        check_token(content, stamped)
    tsp.TimeStampResp.load(built_in().answer(content))


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
    status = der.read(built_in().answer(mangled)).children()[0].children()[0].integer()
    assert status in {0, 2}
