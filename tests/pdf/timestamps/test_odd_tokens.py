"""Answers of authorities of every kind are taken where OpenSSL takes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock, tokens
from paraph.pdf.pki import der
from paraph.pdf.timestamps.timestamp import Timestamping, stamp_time
from paraph.pdf.verification.verify import verify
from tests.keys.odd_chains import Key, issued, key, middle, name, pem, root
from tests.pdf.pdf_factory import paper, text
from tests.pdf.pki.ber_writer import indefinite_outside
from tests.pdf.sealed_files import authority, sealed
from tests.pdf.timestamps.responder import Responder, openssl_ts

DIGEST = tokens.sha256(b"the value of a seal")
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


def _of_someone() -> x509.Certificate:
    public = ed25519.Ed25519PrivateKey.generate().public_key()
    return issued(name("Someone"), public, name("Root"), key("root"))


def _frame_in_ber(answer: bytes) -> bytes:
    """Leave open how long the token and what holds the stamped facts are, and write these in parts, as some do."""
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
    "somebody else's certificate too": lambda folder: below_middle(folder, _of_someone()),
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
    "an issuer missing": lambda folder: Responder(folder, *stamper(name("Middle"), key("middle")), (_of_someone(),)),
    "another issuer of the name": lambda folder: Responder(
        folder, *stamper(name("Middle"), key("middle")), (middle(of="other"),)
    ),
}


@pytest.mark.parametrize("kind", [*ANSWERS, *REFUSED])
def test_a_timestamp_is_taken_where_openssl_takes_it(kind: str, tmp_path: Path) -> None:
    responder = {**ANSWERS, **REFUSED}[kind](tmp_path)
    stamp, failures = stamp_time(DIGEST, Timestamping([responder], [root().public_bytes(Encoding.DER)]))
    (tmp_path / "root.pem").write_bytes(pem(root()))
    accepted = "Verification: OK" in openssl_ts(tmp_path, "-verify -queryfile query -in answer -CAfile root.pem")
    assert (stamp is not None) == accepted == (kind in ANSWERS), failures
    if stamp is not None:
        (tmp_path / "token").write_bytes(stamp.token)  # as it is sealed in
        (tmp_path / "chain.pem").write_bytes(pem(*map(x509.load_der_x509_certificate, stamp.chain)))
        known = "-CAfile root.pem -untrusted chain.pem"
        said = openssl_ts(tmp_path, f"-verify -digest {DIGEST.hex()} -token_in -in token {known}")
        assert "Verification: OK" in said
        stamping = Timestamping([responder], [root().public_bytes(Encoding.DER)])
        sealed_with = sealed(paper(text("A contract", 72, 700)), timestamping=stamping, at=clock.now())
        found = verify(sealed_with.content, [*stamping.roots, authority("p-256").root])
        assert found.ok and found.level == sealed_with.level == "B-T", found.findings
