"""Seals of a trusted key that the service never makes: with SHA-3, EdDSA and ML-DSA (ISO/TS 32001 and 32002, RFC 8419,
9688 and 9882), wrong in one thing, or odd but right. Other faults of seals are in test_verdict."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, mldsa, padding
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.keys.chains import find_chain
from paraph.pdf.pki.cms import CmsRefused, read_signed_data
from paraph.pdf.pki.one_form import in_one_form
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge
from tests.pdf.forge import Forge, usage
from tests.pdf.forged_seals import ROOT, SealForge, sealed_by
from tests.pdf.revisions import countersigned
from tests.pdf.sealed_files import LETTER

_SHA3 = {"sha3_256": hashes.SHA3_256(), "sha3_384": hashes.SHA3_384(), "sha3_512": hashes.SHA3_512()}
_EDWARDS: dict[str, tuple[Any, str, str]] = {
    "Ed25519": (ed25519.Ed25519PrivateKey, "1.3.101.112", "sha512"),
    "Ed448": (ed448.Ed448PrivateKey, "1.3.101.113", "shake256"),
}
_LATTICES: dict[str, tuple[Any, str]] = {
    "ML-DSA-44": (mldsa.MLDSA44PrivateKey, "2.16.840.1.101.3.4.3.17"),
    "ML-DSA-65": (mldsa.MLDSA65PrivateKey, "2.16.840.1.101.3.4.3.18"),
    "ML-DSA-87": (mldsa.MLDSA87PrivateKey, "2.16.840.1.101.3.4.3.19"),
}
_PARTS = {**{name: each[:2] for name, each in _EDWARDS.items()}, **_LATTICES}


@cache
def _key(name: str) -> Any:
    return _PARTS[name][0].generate()


def _without_hash(name: str, digest: str) -> SealForge:
    own = _key(name)
    return SealForge(hash_=digest, key=own, signature_algorithm={"algorithm": _PARTS[name][1]}, sign=own.sign)


def _ecdsa(name: str) -> SealForge:
    number = {"sha3_256": 10, "sha3_384": 11, "sha3_512": 12}[name]
    algorithm = {"algorithm": f"2.16.840.1.101.3.4.3.{number}"}
    own = forge.curve_key("signer")
    return SealForge(
        hash_=name, signature_algorithm=algorithm, sign=lambda message: own.sign(message, ec.ECDSA(_SHA3[name]))
    )


def _pss(name: str) -> SealForge:
    hash_ = _SHA3[name]
    parameters = {
        "hash_algorithm": {"algorithm": name},
        "mask_gen_algorithm": {"algorithm": "mgf1", "parameters": {"algorithm": name}},
        "salt_length": 32,
    }
    return SealForge(
        hash_=name,
        key=forge.rsa_key(),
        signature_algorithm={"algorithm": "rsassa_pss", "parameters": parameters},
        sign=lambda message: forge.rsa_key().sign(message, padding.PSS(padding.MGF1(hash_), 32), hash_),
    )


RIGHT: dict[str, Callable[[], SealForge]] = {
    "ECDSA with SHA3-256": lambda: _ecdsa("sha3_256"),
    "ECDSA with SHA3-384": lambda: _ecdsa("sha3_384"),
    "ECDSA with SHA3-512": lambda: _ecdsa("sha3_512"),
    "RSASSA-PSS with SHA3-256": lambda: _pss("sha3_256"),
    "a timestamp with SHA3-256": lambda: SealForge(authorities=[forge.Forge(hash_="sha3_256")]),
    "Ed25519": lambda: _without_hash("Ed25519", "sha512"),
    "Ed448": lambda: _without_hash("Ed448", "shake256"),
    "ML-DSA-44": lambda: _without_hash("ML-DSA-44", "sha256"),
    "ML-DSA-65": lambda: _without_hash("ML-DSA-65", "sha512"),
    "ML-DSA-65 with SHA3-384": lambda: _without_hash("ML-DSA-65", "sha3_384"),
    "ML-DSA-87 with SHAKE256": lambda: _without_hash("ML-DSA-87", "shake256"),
}
WEAKER = {
    "Ed25519 with SHA-256": ("Ed25519", "sha256"),
    "Ed448 with SHA-512": ("Ed448", "sha512"),
    "ML-DSA-65 with SHA-256": ("ML-DSA-65", "sha256"),
    "ML-DSA-87 with SHA-384": ("ML-DSA-87", "sha384"),
}


@pytest.mark.parametrize("kind", RIGHT)
def test_such_a_signature_is_read_but_not_written_by_the_service(kind: str) -> None:
    pdf = RIGHT[kind]().sealed()
    found = verify(pdf, [ROOT])
    assert found.ok, found.findings
    changed = verify(pdf.replace(b"%PDF-1.3\n%", b"%PDF-1.3\n%%", 1)[:-1], [ROOT])
    assert pdf.startswith(b"%PDF-1.3\n%") and not changed.ok
    *_, value = re.finditer(rb"/Contents\s*<([0-9a-f]+)>", pdf)
    signed = read_signed_data(bytes.fromhex(value[1].decode()))
    with pytest.raises(CmsRefused, match="the service does not write"):
        in_one_form(signed, signed.certificates)


@pytest.mark.parametrize("kind", RIGHT)
def test_another_signature_in_its_place_does_not_hold(kind: str) -> None:
    right = RIGHT[kind]()
    value = right.sign(b"something else") if right.sign else b""
    found = verify(SealForge(right.hash_, key=right.key, signature_algorithm=right.signature_algorithm,
                             sign=lambda _: value).sealed(), [ROOT])  # fmt: skip
    assert not found.intact and "does not belong to its certificate's key" in " ".join(found.findings)


@pytest.mark.parametrize("kind", WEAKER)
def test_a_digest_is_as_strong_as_what_signs_it(kind: str) -> None:
    found = verify(_without_hash(*WEAKER[kind]).sealed(), [ROOT])
    assert not found.ok and "which signs it" in " ".join(found.findings)


@pytest.mark.parametrize("name", _PARTS)
def test_the_algorithm_is_the_one_of_the_key(name: str) -> None:
    """Otherwise a seal could state an algorithm that nobody used."""
    other = next(each for each in _PARTS if each != name)
    own = _key(name)
    stated = SealForge("sha512", key=own, signature_algorithm={"algorithm": _PARTS[other][1]}, sign=own.sign)
    assert not verify(stated.sealed(), [ROOT]).ok


@pytest.mark.parametrize("name", _PARTS)
def test_chains_of_such_keys_are_trusted_as_long_as_nothing_was_changed(name: str) -> None:
    top = _key(name)
    root = forge.certificate("Rare Root", top, "Rare Root", top, ca=True)
    own = forge.certificate("Own", forge.curve_key(), "Rare Root", top)
    assert find_chain(own, [], [root], own.not_valid_before_utc) == (own, root)
    another = forge.certificate("Rare Root", _PARTS[name][0].generate(), "Rare Root", top, ca=True)
    with pytest.raises(ValueError, match="issuer is missing"):
        find_chain(own, [], [another], own.not_valid_before_utc)


def test_rsa_with_sha3_by_openssl(tmp_path: Path) -> None:
    own = forge.rsa_key()
    signer = forge.certificate("Signer", own, "Test Middle", forge.curve_key("middle"))
    (tmp_path / "key.pem").write_bytes(own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "own.pem").write_bytes(signer.public_bytes(Encoding.PEM))
    (tmp_path / "middle.pem").write_bytes(forge.middle().public_bytes(Encoding.PEM))

    def value(covered: bytes) -> bytes:
        (tmp_path / "covered").write_bytes(covered)
        words = "cms -sign -binary -cades -md sha3-384 -signer own.pem -inkey key.pem -certfile middle.pem -outform DER"
        independent.openssl(*words.split(), "-in", "covered", "-out", "value", folder=tmp_path)
        return (tmp_path / "value").read_bytes()

    assert verify(sealed_by(value), [ROOT]).ok


@pytest.mark.parametrize("name", _EDWARDS)
def test_edwards_curves_by_pyhanko(name: str) -> None:
    own = forge.certificate("Signer", _key(name), "Test Middle", forge.curve_key("middle"))
    assert verify(countersigned(LETTER, _key(name), own, forge.middle(), digest=_EDWARDS[name][2]), [ROOT]).ok


_DOCUMENT_SIGNING = x509.ObjectIdentifier("1.3.6.1.5.5.7.3.36")
_UNKNOWN = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4.5"), b"\x05\x00"), True)


def _name(text: str) -> asn1_x509.Name:
    return asn1_x509.Name.build({"common_name": text})


def _named(text: str) -> dict[str, Any]:
    return {"tsa": asn1_x509.GeneralName("directory_name", _name(text))}


def _extended(*, critical: bool) -> dict[str, Any]:
    extension = {"extn_id": "1.2.3.4.5", "critical": critical, "extn_value": b"\x05\x00"}
    return {"extensions": [extension]}


def _stamped(**wrong: Any) -> SealForge:
    return SealForge(authorities=[Forge(**wrong)])


_CLIENT, _SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH
_CODE, _MAIL = ExtendedKeyUsageOID.CODE_SIGNING, ExtendedKeyUsageOID.EMAIL_PROTECTION
_STAMPS = ExtendedKeyUsageOID.TIME_STAMPING

WRONG = {
    "the type of timestamps": SealForge(content_type="tst_info"),
    "another serial number named": SealForge(issuer_serial=lambda own: (own.issuer, own.serial_number + 1)),
    "another issuer named": SealForge(issuer_serial=lambda own: (_name("Another"), own.serial_number)),
    "a certificate for servers": SealForge(certificate={"purposes": [_SERVER, _CLIENT]}),
    "a certificate for servers and programs": SealForge(certificate={"purposes": [_SERVER, _CODE]}),
    "a certificate for status answers": SealForge(certificate={"purposes": [ExtendedKeyUsageOID.OCSP_SIGNING]}),
    "a certificate for timestamps": SealForge(certificate={"purposes": [_STAMPS]}),
    "a certificate for log-ins": SealForge(certificate={"purposes": [x509.ObjectIdentifier("1.3.6.1.4.1.311.20.2.2")]}),
    "a key for certificates": SealForge(certificate={"extensions": [usage("key_cert_sign")]}),
    "a key for encryption": SealForge(certificate={"extensions": [usage("key_encipherment")]}),
    "an unknown critical extension": SealForge(certificate={"extensions": [_UNKNOWN]}),
    "an authority that may not sign": _stamped(wrong_certificate={"extensions": [usage("key_encipherment")]}),
    "an authority for lists": _stamped(wrong_certificate={"extensions": [usage("crl_sign")]}),
    "an authority for programs too": _stamped(wrong_certificate={"purposes": [_STAMPS, _CODE]}),
    "an authority for nothing": _stamped(wrong_certificate={"purposes": []}),
    "an authority with an unknown critical extension": _stamped(wrong_certificate={"extensions": [_UNKNOWN]}),
    "an authority of another name": _stamped(info=_named("Another")),
    "a timestamp with an unknown critical extension": _stamped(info=_extended(critical=True)),
    "a second timestamp of something else": SealForge(
        authorities=[Forge(), Forge()], stamped=[bytes, lambda _: b"else"]
    ),
    "a second timestamp by nobody trusted": SealForge(authorities=[Forge(), Forge(with_middle=False, name="x")]),
    "a second authority that may not sign": SealForge(
        authorities=[Forge(), Forge(wrong_certificate={"extensions": [usage("key_encipherment")]})]
    ),
}

ODD = {
    "nothing odd": SealForge(),
    "version 3": SealForge(version="v3"),
    "attributes in another order": SealForge(in_order=False),
    "the same certificate named twice": SealForge(first_named=b""),
    "issuer and serial number named": SealForge(issuer_serial=lambda own: (own.issuer, own.serial_number)),
    "a certificate for documents": SealForge(certificate={"purposes": [_DOCUMENT_SIGNING]}),
    "a certificate for mail and log-ins": SealForge(certificate={"purposes": [_MAIL, _CLIENT]}),
    "a key for signatures alone": SealForge(certificate={"extensions": [usage("content_commitment")]}),
    "a timestamp": _stamped(),
    "a timestamp that names its authority": _stamped(info=_named("Test Timestamps")),
    "a timestamp with an unknown extension": _stamped(info=_extended(critical=False)),
    "an authority for signatures": _stamped(wrong_certificate={"extensions": [usage("digital_signature")]}),
    "two timestamps": SealForge(authorities=[Forge(), Forge()]),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_seal_that_is_wrong_in_one_thing_is_not_valid(kind: str) -> None:
    found = verify(WRONG[kind].sealed(), [ROOT])
    assert not found.ok and found.findings
    assert not (found.intact and found.trusted)


@pytest.mark.parametrize("kind", ODD)
def test_a_seal_that_is_odd_but_right_is_valid(kind: str) -> None:
    found = verify(ODD[kind].sealed(), [ROOT])
    assert found.ok, found.findings
    assert found.signer == "Signer"
