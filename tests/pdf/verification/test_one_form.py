"""A sealed file has one form: nobody can make another valid file by changing parts of its CMS that nothing signs."""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from paraph.keys.development import issue_root
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.cms import read_signed_data
from paraph.pdf.pki.one_form import seal_in_one_form, token_in_one_form
from paraph.pdf.pki.statuses import LongTerm
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.verification.pictures import DrawingTime
from paraph.pdf.verification.verify import verify
from tests.keys.certified_keys import make_key
from tests.pdf.forge import Forge, certificate, curve_key, der_of, middle, root
from tests.pdf.levels import long_term
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import authority, sealed, timestamping
from tests.pdf.sealing.test_levels import Lists

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256 (SEC 2)
_CONTENTS = re.compile(rb"/Contents <([0-9a-f]+)>")
_SIGNED_DATA, _SIGNER = (1, 0), (1, 0, -1, 0)
Change = Callable[[list[bytes]], None]


def _made(level: str) -> bytes:
    stamps = None if level == "B-B" else timestamping()
    term = long_term() if level == "B-LTA" else None
    return sealed(paper(text("I owe 1,000 EUR", 100, 700)), timestamping=stamps, long_term=term).content


FILES = {level: _made(level) for level in ("B-B", "B-T", "B-LTA")}
"""Files whose last value is covered by nothing: a seal, a seal with a timestamp, an archive timestamp."""


def _is_valid(pdf: bytes) -> bool:
    return verify(pdf, [authority("p-256").root], drawing=DrawingTime(0.0)).ok


def _value(pdf: bytes) -> bytes:
    return next(der.elements(bytes.fromhex(_CONTENTS.findall(pdf)[-1].decode()))).raw


def _with(pdf: bytes, value: bytes, digits: Callable[[str], str] = str) -> bytes:
    hole = list(_CONTENTS.finditer(pdf))[-1]
    return pdf[: hole.start(1)] + digits(value.hex()).encode().ljust(len(hole[1]), b"0") + pdf[hole.end(1) :]


def _changed(encoded: bytes, path: tuple[int, ...], change: Change) -> bytes:
    """Return the value with the children of the element at ``path`` changed, and all lengths corrected."""
    element = der.read(encoded)
    parts = [each.raw for each in element.children(element.tag)]
    if path:
        parts[path[0]] = _changed(parts[path[0]], path[1:], change)
    else:
        change(parts)
    return der.tlv(element.tag, *parts)


def _replace(position: int, new: Callable[[bytes], bytes]) -> Change:
    def change(parts: list[bytes]) -> None:
        parts[position] = new(parts[position])

    return change


def _insert(position: int, part: bytes) -> Change:
    return lambda parts: parts.insert(position, part)


def _negated(encoded: bytes) -> bytes:
    r, s = decode_dss_signature(der.read(encoded).octets())
    return der.octet_string(encode_dss_signature(r, _ORDER - s))


def _by_key(_encoded: bytes) -> bytes:
    return der.tlv(der.CONTEXT, b"0123")


def _other_certificate() -> bytes:
    return der_of(issue_root(make_key("p-256")))


def _more(kind: str) -> bytes:
    return der.sequence(der.oid(kind), der.tlv(der.SET, der.octet_string(b"more")))


def _signature(parts: list[bytes]) -> int:
    """Return the position of the signature: before the unsigned attributes, if there are any."""
    return next(i for i, part in enumerate(parts) if part[0] == der.OCTET_STRING)


def _negate(parts: list[bytes]) -> None:
    parts[_signature(parts)] = _negated(parts[_signature(parts)])


def _unsigned(attribute: bytes) -> Change:
    def change(parts: list[bytes]) -> None:
        there = parts[-1] if parts[-1][0] == 0xA1 else der.tlv(0xA1)
        parts[_signature(parts) + 1 :] = [der.tlv(0xA1, der.read(there).content, attribute)]

    return change


_CHANGES: dict[str, tuple[tuple[int, ...], Change]] = {
    "version 3 or 1": (_SIGNED_DATA, _replace(0, lambda old: der.integer(4 - der.read(old).integer()))),
    "version 4": (_SIGNED_DATA, _replace(0, lambda _: der.integer(4))),
    "version 5": (_SIGNED_DATA, _replace(0, lambda _: der.integer(5))),
    "a hash with a parameter": ((*_SIGNED_DATA, 1, 0), lambda parts: parts.append(der.tlv(der.NULL))),
    "two hashes": ((*_SIGNED_DATA, 1), lambda parts: parts.append(der.sequence(der.oid("2.16.840.1.101.3.4.2.3")))),
    "another certificate": ((*_SIGNED_DATA, 3), _insert(0, _other_certificate())),
    "another certificate behind": ((*_SIGNED_DATA, 3), lambda parts: parts.append(_other_certificate())),
    "the root": ((*_SIGNED_DATA, 3), lambda parts: parts.append(authority("p-256").root)),
    "a certificate twice": ((*_SIGNED_DATA, 3), lambda parts: parts.append(parts[0])),
    "something else among certificates": ((*_SIGNED_DATA, 3), lambda parts: parts.append(der.tlv(0xA1, b"x"))),
    "lists": (_SIGNED_DATA, _insert(4, der.tlv(0xA1))),
    "two signers": ((*_SIGNED_DATA, -1), lambda parts: parts.append(parts[0])),
    "a signer of version 3": (_SIGNER, _replace(0, lambda _: der.integer(3))),
    "a signer by its key": (_SIGNER, _replace(1, _by_key)),
    "the signer's hash with a parameter": ((*_SIGNER, 2), lambda parts: parts.append(der.tlv(der.NULL))),
    "an algorithm with a parameter": ((*_SIGNER, 4), lambda parts: parts.append(der.tlv(der.NULL))),
    "an algorithm without a hash": ((*_SIGNER, 4), _replace(0, lambda _: der.oid(oids.EC_PUBLIC_KEY))),
    "the signature negated": (_SIGNER, _negate),
    **{
        f"an unsigned attribute, {kind}": (_SIGNER, _unsigned(_more(kind)))
        for kind in sorted(oids.UNSIGNED | {oids.SIGNING_TIME})
    },
}


def _longer_lengths(encoded: bytes, deep: int = 12) -> Iterator[bytes]:
    """Yield the value once for each element with its length written longer, and once with its length left open."""
    element = der.read(encoded)
    yield encoded[:1] + bytes((0x84,)) + len(element.content).to_bytes(4, "big") + element.content
    if not element.tag & der.CONSTRUCTED or not deep:
        return
    yield encoded[:1] + b"\x80" + element.content + b"\0\0"
    children = list(element.children(element.tag))
    for number, child in enumerate(children):
        parts = [each.raw for each in children]
        for other in _longer_lengths(child.raw, deep - 1):
            parts[number] = other
            yield der.tlv(element.tag, *parts)


@pytest.mark.parametrize("level", FILES)
def test_what_the_service_writes_is_in_the_one_form(level: str) -> None:
    value = _value(FILES[level])
    form = token_in_one_form(value) if level == "B-LTA" else seal_in_one_form(read_signed_data(value))
    assert form == value
    assert _is_valid(FILES[level])
    assert _with(FILES[level], value) == FILES[level]


@pytest.mark.parametrize("name", _CHANGES)
@pytest.mark.parametrize("level", FILES)
def test_another_form_is_not_valid(level: str, name: str) -> None:
    pdf, (path, change) = FILES[level], _CHANGES[name]
    other = _with(pdf, _changed(_value(pdf), path, change))
    assert other != pdf and not _is_valid(other)


@pytest.mark.parametrize("level", FILES)
def test_no_length_is_written_otherwise(level: str) -> None:
    pdf = FILES[level]
    others = [_with(pdf, value) for value in _longer_lengths(_value(pdf))]
    room = [other for other in others if len(other) == len(pdf)]
    assert len(room) > 60
    assert [other for other in room if _is_valid(other)] == []


@pytest.mark.parametrize("level", FILES)
def test_digits_are_lower_case_with_zeros_behind_them(level: str) -> None:
    pdf = FILES[level]
    assert not _is_valid(_with(pdf, _value(pdf), str.upper))
    hole = list(_CONTENTS.finditer(pdf))[-1]
    for last in (b"1>", b"A>", b" >", b"\0>"):
        assert not _is_valid(pdf[: hole.end(1) - 1] + last + pdf[hole.end() :])


@pytest.mark.parametrize("level", FILES)
def test_no_byte_of_a_value_can_be_another(level: str) -> None:
    pdf, chance = FILES[level], Random(level)
    hole = list(_CONTENTS.finditer(pdf))[-1]
    for place in chance.sample(range(hole.start(1), hole.end(1)), 150):
        digit = chance.choice([each for each in b"0123456789abcdefABCDEF" if each != pdf[place]])
        assert not _is_valid(pdf[:place] + bytes([digit]) + pdf[place + 1 :]), place


def _sealed_below_an_issuer(**how: Any) -> bytes:
    own = curve_key("leaf")
    named = certificate("Seal of Acme", own, "Test Middle", curve_key("middle"))
    key = LocalKey(own, [named, middle(), root()])
    return sealed(paper(text("I owe 1,000 EUR", 100, 700)), key=key, **how).content


def _is_valid_below_root(pdf: bytes) -> bool:
    return verify(pdf, [der_of(root())], drawing=DrawingTime(0.0)).ok


def _again(issuer: str) -> bytes:
    """Return another certificate with the name and key of the middle one, which therefore fits what that one issued."""
    return der_of(certificate("Test Middle", curve_key("middle"), issuer, curve_key("root"), ca=True))


def test_a_seal_carries_the_certificates_that_it_names() -> None:
    pdf, path = _sealed_below_an_issuer(), (*_SIGNED_DATA, 3)
    assert _is_valid_below_root(pdf)
    changes: list[Change] = [
        lambda parts: parts.remove(der_of(middle())),
        lambda parts: parts.append(der_of(root())),
        lambda parts: parts.append(_again("Test Root")),
        lambda parts: parts.reverse(),
        lambda parts: parts.__setitem__(parts.index(der_of(middle())), _again("Test Root")),
    ]
    for change in changes:
        other = _with(pdf, _changed(_value(pdf), path, change))
        assert other != pdf and not _is_valid_below_root(other)


def test_a_token_is_brought_into_the_one_form() -> None:
    """Only the authority's own certificate stays, whatever else it sends along and however it writes its token."""

    def lavish(answer: bytes) -> bytes:
        more: list[tuple[tuple[int, ...], Change]] = [
            ((*_SIGNED_DATA, 3), lambda parts: parts.append(_other_certificate())),
            ((*_SIGNED_DATA, 3), lambda parts: parts.append(der_of(root()))),
            (_SIGNER, _negate),
        ]
        for path, change in more:
            answer = _changed(answer, (1, *path), change)
        return answer

    stamps = Timestamping([Forge(tamper=lavish)], [der_of(root())])
    pdf = _sealed_below_an_issuer(timestamping=stamps)
    assert _is_valid_below_root(pdf)
    signed = read_signed_data(_value(pdf))
    (token,) = signed.unsigned_attributes[oids.TIMESTAMP_TOKEN]
    stamp = read_signed_data(token.raw)
    assert stamp.certificates == (stamp.signer.encoded,)
    other = _with(pdf, _changed(_value(pdf), (*_SIGNER, -1, 0, 1, 0, *_SIGNER), _negate))
    assert other != pdf and not _is_valid_below_root(other)


@pytest.mark.parametrize("level", ["B-T", "B-LTA"])
def test_a_token_carries_no_issuer(level: str) -> None:
    """A token names no issuer, so anybody could remove it, or replace it by another of the same name and key."""
    roots = [der_of(root()), authority("p-256").root]
    term = LongTerm([*long_term().sources, Lists()]) if level == "B-LTA" else None
    pdf = _sealed_below_an_issuer(timestamping=Timestamping([Forge()], roots), long_term=term)
    assert verify(pdf, roots).ok
    path = (*_SIGNED_DATA, 3) if level == "B-LTA" else (*_SIGNER, -1, 0, 1, 0, *_SIGNED_DATA, 3)
    for issuer in (der_of(middle()), _again("Test Root")):
        other = _with(pdf, _changed(_value(pdf), path, _insert(1, issuer)))
        assert len(other) == len(pdf) and not verify(other, roots).ok


def test_the_lower_of_two_signatures_is_written() -> None:
    for number in range(8):
        pdf = sealed(paper(text(f"Letter {number}", 100, 700))).content
        assert decode_dss_signature(read_signed_data(_value(pdf)).signature)[1] <= _ORDER // 2
