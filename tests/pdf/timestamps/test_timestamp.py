"""Tokens are verified in full: each fault is refused with its reason, and the next authority is asked. Tokens of
authorities of every kind are accepted where OpenSSL accepts them."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asn1crypto import tsp
from cryptography import x509
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import development_authority
from paraph.pdf.pki import der
from paraph.pdf.timestamps.timestamp import (
    AuthorityFailed,
    TimestampAuthority,
    Timestamping,
    TokenRefused,
    check_token,
    stamp_time,
)
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.keys.odd_chains import Key, issued, key, middle, name, of_someone, pem, pkcs8, root
from tests.pdf import forge
from tests.pdf.forge import POLICY, Forge, Scheme
from tests.pdf.pdf_factory import flipped, paper, text
from tests.pdf.pki.test_der import indefinite_outside
from tests.pdf.sealed_files import authority, sealed

SCHEMES: tuple[Scheme, ...] = ("pkcs1", "pss", "ecdsa")
DIGEST = hashlib.sha256(b"a seal's signature value").digest()


def trusting(*authorities: TimestampAuthority, **arguments: Any) -> Timestamping:
    return Timestamping(authorities, [forge.der_of(forge.root())], **arguments)


RIGHT = [Forge(scheme=scheme, hash_=hash_) for scheme in SCHEMES for hash_ in ("sha256", "sha384", "sha512")]


@pytest.mark.parametrize("authority", [*RIGHT, Forge(status=1), Forge(named="v1")])
def test_right_tokens_pass(authority: Forge) -> None:
    stamp, failures = stamp_time(DIGEST, trusting(authority))
    assert failures == []
    assert stamp is not None
    assert (stamp.authority, stamp.policy_oid, stamp.url) == ("Test Timestamps", POLICY, "forge")


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_the_request_says_what_is_stamped(algorithm: str) -> None:
    authority, digest = Forge(), hashlib.new(algorithm, b"content").digest()
    stamp, _ = stamp_time(digest, trusting(authority))
    assert stamp is not None
    request = tsp.TimeStampReq.load(authority.asked[0], strict=True)
    assert request["version"].native == "v1" and request["cert_req"].native is True
    assert request["message_imprint"]["hash_algorithm"]["algorithm"].native == algorithm
    assert request["message_imprint"]["hashed_message"].native == digest
    stamp_time(digest, trusting(authority))
    assert tsp.TimeStampReq.load(authority.asked[1])["nonce"].native != request["nonce"].native


_OTHER = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(b"other").digest()}
_LONGER = {"hash_algorithm": {"algorithm": "sha512"}, "hashed_message": hashlib.sha512(b"other").digest()}
_SHA1 = {"hash_algorithm": {"algorithm": "sha1"}, "hashed_message": hashlib.sha1(b"other").digest()}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"info": {"message_imprint": _OTHER}}, "a timestamp of something else"),
        ({"info": {"message_imprint": _LONGER}}, "a timestamp of something else"),
        ({"info": {"message_imprint": _SHA1}}, "it is a timestamp of something else"),
        ({"info": {"nonce": 1}}, "answers another request"),
        ({"info": {"nonce": None}}, "answers another request"),
        ({"info": {"version": 2}}, "version that is not known"),
        ({"info": {"gen_time": forge.long_ago()}}, "its certificate was not valid at the time it states"),
        ({"wrong_certificate": {"end": timedelta(hours=-1)}}, "not valid at the time"),
        ({"wrong_certificate": {"start": timedelta(hours=1)}}, "not valid at the time"),
        ({"wrong_certificate": {"purposes": []}}, "not one for timestamps alone"),
        ({"wrong_certificate": {"critical": False}}, "not one for timestamps alone"),
        ({"wrong_certificate": {"purposes": [ExtendedKeyUsageOID.CODE_SIGNING]}}, "not one for timestamps alone"),
        (
            {"wrong_certificate": {"purposes": [ExtendedKeyUsageOID.TIME_STAMPING, ExtendedKeyUsageOID.CODE_SIGNING]}},
            "not one for timestamps alone",
        ),
        ({"with_middle": False}, "does not chain to a trusted root"),
        ({"named": "none"}, "does not name its certificate"),
        ({"named": "other"}, "names another certificate"),
        ({"hash_": "sha1"}, "the hash SHA-1 is not accepted"),
        ({"hash_": "sha3_256"}, "the service does not write the hash sha3_256"),  # verification accepts it
        ({"content_type": "data"}, "it is not a timestamp token"),
        ({"status": 2, "failure": "bad_alg", "text": "no thanks"}, 'refused, "no thanks", the hash is not accepted'),
        ({"status": 2, "failure": "system_failure"}, "it has a fault of its own"),
        ({"status": 3}, "is waiting"),
        ({"tamper": flipped}, "does not belong to its certificate's key"),
        ({"tamper": lambda answer: b"<html>"}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: b""}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: answer[:-5]}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: answer + b"\0"}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: b"\x30\x05\x30\x03\x02\x01\x00"}, "granted but has no token"),
        ({"tamper": lambda answer: b"\x30\x09\x30\x03\x02\x01\x00\x30\x02\x05\x00"}, "cannot be read"),
    ],
)
def test_wrong_tokens_are_refused_with_the_reason(wrong: dict[str, Any], reason: str) -> None:
    stamp, failures = stamp_time(DIGEST, trusting(Forge(**wrong)))
    assert stamp is None
    assert len(failures) == 1 and failures[0].startswith("forge gave no usable timestamp: ")
    assert reason in failures[0]


def test_a_clock_that_is_far_off_is_refused() -> None:
    authority = Forge(info={"gen_time": forge.long_ago()}, wrong_certificate={"start": timedelta(days=-365 * 30)})
    stamp, failures = stamp_time(DIGEST, trusting(authority))
    assert stamp is None and "more than a day away from this machine's clock" in failures[0]


def test_another_root_is_not_trusted(tmp_path: Any) -> None:
    other = development_authority(tmp_path, b"s" * 32).root
    stamp, failures = stamp_time(DIGEST, Timestamping([Forge()], [other]))
    assert stamp is None and "does not chain to a trusted root" in failures[0]
    stamp, failures = stamp_time(DIGEST, Timestamping([Forge()], []))
    assert stamp is None and "no root is trusted" in failures[0]


def test_a_flipped_bit_anywhere_in_a_token_is_noticed() -> None:
    """Exceptions are the certificate above the signer's, where a copy that no longer chains to a root is refused
    elsewhere, and version 1 in place of 3, which some programs write."""
    info = tsp.TSTInfo(
        {
            "version": "v1",
            "policy": POLICY,
            "message_imprint": {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": DIGEST},
            "serial_number": 7,
            "gen_time": clock.now(),
        }
    )
    token = Forge().token(info.dump()).dump()
    assert check_token(token, digest_only).authority == "Test Timestamps"
    above = forge.der_of(forge.middle())
    passed_over = {token.index(b"\x02\x01\x03") + 2, *range(token.index(above), token.index(above) + len(above))}
    unnoticed = [
        (place, bit)
        for place in set(range(len(token))) - passed_over
        for bit in range(8)
        if not refused(flipped(token, place, 1 << bit))
    ]
    assert unnoticed == []


def digest_only(name: str) -> bytes:
    return DIGEST if name == "sha256" else b""


def refused(token: bytes) -> bool:
    try:
        check_token(token, digest_only)
    except TokenRefused:
        return True
    return False


class Failing:
    name = "failing"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def answer(self, request: bytes, timeout: float) -> bytes:
        raise self.error


def test_the_next_authority_is_asked_in_order() -> None:
    first, second, third = Forge(status=2, name="first"), Forge(name="second"), Forge(name="third")
    stamp, failures = stamp_time(DIGEST, trusting(Failing(AuthorityFailed("it is down")), first, second, third))
    assert stamp is not None and stamp.url == "second"
    assert failures[0] == "failing gave no usable timestamp: it is down."
    assert failures[1].startswith("first gave no usable timestamp: the authority refused")
    assert len(failures) == 2 and not third.asked


def test_no_authority_is_left() -> None:
    down = Failing(DomainError("configuration", "The key has expired."))
    assert stamp_time(DIGEST, trusting(down)) == (None, ["failing gave no usable timestamp: The key has expired."])
    assert stamp_time(DIGEST, trusting()) == (None, [])


def test_the_budget_is_for_all_of_them() -> None:
    given: list[float] = []

    class Slow(Forge):
        def answer(self, request: bytes, timeout: float) -> bytes:
            given.append(timeout)
            raise AuthorityFailed("too slow")

    stamp_time(DIGEST, trusting(Slow(), Slow(), Slow(), budget_seconds=9))
    assert given == pytest.approx([3, 4.5, 9], abs=0.2)
    stamp, failures = stamp_time(DIGEST, trusting(Slow(name="late"), budget_seconds=0))
    assert stamp is None and failures == ["late was not asked: the time for timestamps was used up."]


_CONFIGURATION = f"""[tsa]
serial = serial
signer_cert = own.pem
signer_key = own.key
certs = others.pem
signer_digest = sha256
default_policy = {POLICY}
digests = sha256, sha384
ess_cert_id_alg = sha256
"""


@dataclass
class Responder:
    """``openssl ts -reply`` with a key, its certificate, and other certificates to send along."""

    folder: Path
    own: Key
    certificate: x509.Certificate
    others: tuple[x509.Certificate, ...] = ()
    written: Callable[[bytes], bytes] = bytes
    """Rewrites the answer, for instance in BER."""
    name: str = "openssl"
    more: str = ""
    """More lines of the configuration."""

    def answer(self, request: bytes, timeout: float) -> bytes:
        files = {"own.key": pkcs8(self.own), "own.pem": pem(self.certificate), "others.pem": pem(*self.others)}
        files |= {"ts.cnf": (_CONFIGURATION + self.more).encode(), "serial": b"01\n", "query": request}
        for file, content in files.items():
            (self.folder / file).write_bytes(content)
        _openssl(self.folder, "-reply -config ts.cnf -section tsa -queryfile query -out answer")
        answer = self.written((self.folder / "answer").read_bytes())
        (self.folder / "answer").write_bytes(answer)
        return answer


def _openssl(folder: Path, words: str) -> str:
    return independent.openssl("ts", *words.split(), folder=folder)


STAMPING = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), True)


def stamper(issuer: x509.Name, issuer_key: Key, kind: str = "p-256") -> tuple[Key, x509.Certificate]:
    own = key("stamper", kind)
    return own, issued(name("Time"), own.public_key(), issuer, issuer_key, extensions=[STAMPING])


def below_middle(folder: Path, *others: x509.Certificate, kind: str = "p-256", **more: Any) -> Responder:
    return Responder(folder, *stamper(name("Middle"), key("middle"), kind), (middle(), *others), **more)


def below_root(folder: Path, *others: x509.Certificate, issuer: x509.Name | None = None) -> Responder:
    return Responder(folder, *stamper(issuer or name("Root"), key("root")), (*others, middle()))


def _older_root() -> x509.Certificate:
    return root(of=key("older"))


def _crossed() -> x509.Certificate:
    return issued(name("Root"), key("root").public_key(), name("Older Root"), key("older"), ca=True)


def _frame_in_ber(answer: bytes) -> bytes:
    """Write the token in BER as some authorities do: with open lengths, and the stamped facts in parts."""
    status, token = der.read(answer).children()
    kind, explicit = token.children()
    version, digests, content, *signed = explicit.only(0xA0).children()
    type_, octets = content.children()
    facts = der.octet_string(octets.only(0xA0).octets()[:50]), der.octet_string(octets.only(0xA0).octets()[50:])
    content_in_ber = _open(der.SEQUENCE, type_.raw, _open(0xA0, _open(0x24, *facts)))
    parts = (version.raw, digests.raw, content_in_ber, *(each.raw for each in signed))
    return der.sequence(status.raw, _open(der.SEQUENCE, kind.raw, _open(0xA0, _open(der.SEQUENCE, *parts))))


def _open(tag: int, *parts: bytes) -> bytes:
    return bytes((tag, 0x80)) + b"".join(parts) + b"\0\0"


ANSWERS: dict[str, Callable[[Path], Responder]] = {
    "the chain without its root": below_middle,
    "the whole chain": lambda folder: below_middle(folder, root()),
    "in BER": lambda folder: below_middle(folder, written=_frame_in_ber),
    "in BER on the outside": lambda folder: below_middle(folder, written=indefinite_outside),
    "an older key of the issuer too": lambda folder: below_root(folder, _older_root()),
    "an older key of the root too": lambda folder: below_middle(folder, _older_root()),
    "an issuer's other key too": lambda folder: below_middle(folder, middle(), middle(of="other")),
    "the root signed by another too": lambda folder: below_root(folder, _crossed(), root("Older Root", key("older"))),
    "the root twice, once signed by another": lambda folder: below_root(folder, root(), _crossed()),
    "somebody else's certificate too": lambda folder: below_middle(folder, of_someone()),
    "the issuer's name in PrintableString": lambda folder: below_root(
        folder, issuer=name("Root", kind=_ASN1Type.PrintableString)
    ),
    "the name of an issuer between in capitals": lambda folder: Responder(
        folder, *stamper(name("MIDDLE"), key("middle")), (middle(),)
    ),
    "RSA": lambda folder: below_middle(folder, kind="rsa-2048"),
    "P-384": lambda folder: below_middle(folder, kind="p-384"),
    "brainpoolP256r1": lambda folder: below_middle(folder, kind="brainpool-256"),
}
REFUSED: dict[str, Callable[[Path], Responder]] = {
    "an issuer missing": lambda folder: Responder(folder, *stamper(name("Middle"), key("middle")), (of_someone(),)),
    "another issuer of the name": lambda folder: Responder(
        folder, *stamper(name("Middle"), key("middle")), (middle(of="other"),)
    ),
}


@pytest.mark.parametrize("kind", [*ANSWERS, *REFUSED])
def test_a_timestamp_is_taken_where_openssl_takes_it(kind: str, tmp_path: Path) -> None:
    responder = {**ANSWERS, **REFUSED}[kind](tmp_path)
    stamp, failures = stamp_time(DIGEST, Timestamping([responder], [forge.der_of(root())]))
    (tmp_path / "root.pem").write_bytes(pem(root()))
    accepted = "Verification: OK" in _openssl(tmp_path, "-verify -queryfile query -in answer -CAfile root.pem")
    assert (stamp is not None) == accepted == (kind in ANSWERS), failures
    if stamp is not None:
        (tmp_path / "token").write_bytes(stamp.token)  # in the form that goes into a seal
        (tmp_path / "chain.pem").write_bytes(pem(*map(x509.load_der_x509_certificate, stamp.chain)))
        known = "-CAfile root.pem -untrusted chain.pem"
        said = _openssl(tmp_path, f"-verify -digest {DIGEST.hex()} -token_in -in token {known}")
        assert "Verification: OK" in said
        stamping = Timestamping([responder], [forge.der_of(root())])
        sealed_with = sealed(paper(text("A contract", 72, 700)), timestamping=stamping, at=clock.now())
        found = verify(sealed_with.content, [*stamping.roots, authority("p-256").root])
        assert found.ok and found.level == sealed_with.level == "B-T", found.findings
