"""Weak keys and hashes are trusted nowhere: signers, issuers, roots, timestamp authorities, tokens, statuses."""

from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import pytest
from asn1crypto import core as asn1_core
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.certificate import Untrusted, check_chain, end_of, load
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping
from paraph.pdf.verification.verify import verify
from tests.pdf import forge
from tests.pdf.forge import curve_key
from tests.pdf.sealed_files import LETTER, OWN, ROOTS, on, sealed, timestamping

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
SHA256 = forge.SHA256


@cache
def weak_rsa() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 1024)


@cache
def weak_curve() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP224R1())


def signed_with(made: forge.Signed, key: Key, hash_: hashes.HashAlgorithm) -> bytes:
    return forge.der_of(made) if hash_ is SHA256 else forge.anew(made, key, lambda _: None, hash_)


def chain(purpose: x509.ObjectIdentifier | None = None, **wrong: Any) -> list[x509.Certificate]:
    """Return leaf, issuer and root, strong except for what is given: ``leaf``, its key, ``leaf_hash``, the hash of its
    signature, and likewise for ``middle`` and ``root``."""
    leaf, middle, root = (wrong.get(name) or curve_key(name) for name in ("leaf", "middle", "root"))
    by = {name: wrong.get(f"{name}_hash", SHA256) for name in ("leaf", "middle", "root")}
    issued, purposes = partial(forge.certificate, end=timedelta(days=3650)), [purpose] if purpose else []
    return [
        issued("Leaf", leaf, "Middle", middle, hash_=by["leaf"], purposes=purposes),
        issued("Middle", middle, "Root", root, hash_=by["middle"], ca=True),
        issued("Root", root, "Root", root, hash_=by["root"], ca=True),
    ]


WEAK: dict[str, tuple[dict[str, Any], str]] = {
    "leaf RSA": ({"leaf": weak_rsa}, "its certificate has a weak key: RSA of 1024 bits is not accepted"),
    "leaf curve": ({"leaf": weak_curve}, "its certificate has a weak key: secp224r1 of 224 bits is not accepted"),
    "middle RSA": ({"middle": weak_rsa}, 'the certificate "Middle" has a weak key: RSA of 1024 bits'),
    "middle curve": ({"middle": weak_curve}, 'the certificate "Middle" has a weak key: secp224r1'),
    "root RSA": ({"root": weak_rsa}, 'the certificate "Root" has a weak key: RSA of 1024 bits'),
    "root curve": ({"root": weak_curve}, 'the certificate "Root" has a weak key: secp224r1'),
    "leaf signed with SHA-1": ({"leaf_hash": hashes.SHA1}, "its certificate has a weak signature: the hash SHA-1 is"),
    "leaf signed with SHA-224": ({"leaf_hash": hashes.SHA224}, "certificate has a weak signature: the hash SHA-224"),
    "middle signed with SHA-1": ({"middle_hash": hashes.SHA1}, '"Middle" has a weak signature: the hash SHA-1'),
    "middle signed with SHA-224": ({"middle_hash": hashes.SHA224}, '"Middle" has a weak signature: the hash SHA-224'),
}


def made(wrong: dict[str, Any], **of_leaf: Any) -> list[x509.Certificate]:
    return chain(**{name: make() for name, make in wrong.items()}, **of_leaf)


@pytest.mark.parametrize("kind", WEAK)
def test_a_chain_with_anything_weak_is_not_trusted(kind: str) -> None:
    wrong, reason = WEAK[kind]
    leaf, middle, root = map(forge.der_of, made(wrong))
    with pytest.raises(Untrusted, match=reason):
        check_chain(load(leaf), [middle, root], [root], clock.now())


def test_how_a_root_is_signed_does_not_matter() -> None:
    for hash_ in (hashes.SHA1(), hashes.SHA224()):
        leaf, middle, root = map(forge.der_of, chain(root_hash=hash_))
        assert check_chain(load(leaf), [middle, root], [root], clock.now()) == (leaf, middle, root)


def test_a_strong_certificate_of_the_same_issuer_is_found_beside_a_weak_one() -> None:
    leaf, middle, root = map(forge.der_of, chain())
    weak = forge.der_of(chain(middle_hash=hashes.SHA1())[1])
    assert check_chain(load(leaf), [weak, middle], [root], clock.now())[1] == middle


def key_of(links: list[x509.Certificate], key: Key) -> LocalKey:
    """Return a key whose chain was not checked, as other programs may use it."""
    with patch("paraph.keys.signing_key.find_chain", return_value=tuple(links)):
        return LocalKey(key, links)


@pytest.mark.parametrize("kind", ["leaf RSA", "middle signed with SHA-1"])
def test_a_timestamp_of_such_a_chain_is_not_taken(kind: str) -> None:
    wrong, reason = WEAK[kind]
    links = made(wrong, purpose=ExtendedKeyUsageOID.TIME_STAMPING)
    key = key_of(links, wrong.get("leaf", lambda: curve_key("leaf"))())
    with pytest.raises(DomainError, match=r"has a weak (key|signature): "):
        LocalKey(key.private_key, links)  # our own code makes no such key
    roots = [OWN.root, forge.der_of(links[-1])]
    stamped = sealed(LETTER, at=clock.now(), timestamping=Timestamping([BuiltInAuthority(key)], roots))
    assert stamped.timestamp is None and any(reason in failure for failure in stamped.timestamp_failures)


@pytest.mark.parametrize("hash_", [hashes.SHA1(), hashes.SHA224()])
def test_a_revocation_list_with_an_old_hash_proves_nothing_good(hash_: hashes.HashAlgorithm) -> None:
    leaf, middle, root = chain()
    statuses = {
        each: revoked_by_list(middle, curve_key("middle"), leaf if each else None, hash_) for each in (True, False)
    }
    above = revoked_by_list(root, curve_key("root"), None, SHA256)
    links = tuple(map(forge.der_of, (leaf, middle, root)))
    fresh = revoked_by_list(middle, curve_key("middle"), None, SHA256)
    assert LongTermData(crls=(fresh, above)).proves(links, clock.now())
    assert not LongTermData(crls=(statuses[False], above)).proves(links, clock.now())
    with pytest.raises(Revoked):
        LongTermData(crls=(statuses[True], above)).proves(links, clock.now())


def revoked_by_list(
    issuer: x509.Certificate, key: ec.EllipticCurvePrivateKey, revoked: x509.Certificate | None, hash_: Any
) -> bytes:
    entries = [forge.revoked(revoked, clock.now() - timedelta(hours=2))] if revoked else []
    return signed_with(forge.revocation_list(issuer, key, *entries, ago=timedelta(hours=1)), key, hash_)


@pytest.mark.parametrize("weak", ["", "hash", "responder's key", "responder's certificate"])
def test_a_status_answer_with_an_old_hash_or_key_proves_nothing_good(weak: str) -> None:
    leaf, middle, root = chain()
    links = tuple(map(forge.der_of, (leaf, middle, root)))
    above = revoked_by_list(root, curve_key("root"), None, SHA256)
    responder = weak_rsa() if weak == "responder's key" else curve_key("responder")
    purpose, old = ExtendedKeyUsageOID.OCSP_SIGNING, hashes.SHA1()
    certificate_hash = old if weak == "responder's certificate" else SHA256
    certified = forge.certificate(
        "Responder", responder, "Middle", curve_key("middle"), hash_=certificate_hash, purposes=[purpose]
    )
    now = clock.now()
    for when in (None, now - timedelta(hours=2)):
        answer = forge.answer(leaf, middle, responder, by=[certified], revoked_at=when)
        data = LongTermData(crls=(above,), ocsps=(signed_with(answer, responder, old if weak == "hash" else SHA256),))
        if when:
            with pytest.raises(Revoked):
                data.proves(links, now)
        else:
            assert data.proves(links, now) == (not weak)


def test_a_timestamp_that_is_still_to_come_is_not_accepted() -> None:
    now = clock.now()
    for ahead, good in ((timedelta(minutes=4), True), (timedelta(minutes=6), False), (timedelta(days=400), False)):
        with on(now + ahead):
            pdf = sealed(LETTER, at=now, timestamping=timestamping()).content
        with on(now):
            found = verify(pdf, ROOTS)
        assert found.ok is good
        told = any("it states a time that is still to come, " in finding for finding in found.findings)
        assert told is not good


def test_a_seal_outlives_its_algorithm_by_its_timestamp() -> None:
    """RSA of 2048 bits is accepted until the end of 2028."""
    key = rsa.generate_private_key(65537, 2048)
    links = chain(leaf=key)
    roots = [OWN.root, forge.der_of(links[-1])]
    stamped, bare = (
        sealed(LETTER, key=key_of(links, key), at=clock.now(), timestamping=stamping).content
        for stamping in (timestamping(), None)
    )
    with on(datetime(2029, 3, 1, tzinfo=UTC)):
        assert verify(stamped, roots).trusted
        found = verify(bare, roots)
    assert found.intact and not found.trusted
    assert any("RSA of 2048 bits is not accepted after 2028-12-31" in finding for finding in found.findings)


def test_a_timestamp_is_renewed_before_its_algorithm_ends() -> None:
    key = rsa.generate_private_key(65537, 2048)
    links = tuple(map(forge.der_of, chain(leaf=key, purpose=ExtendedKeyUsageOID.TIME_STAMPING)))
    assert end_of(links).date() == date(2028, 12, 31)
    now = datetime(2026, 11, 1, tzinfo=UTC)
    with on(now):
        stamp = Timestamp(b"", now, "", "", "", links)
        assert stamp.renewal_at.date() == date(2028, 12, 31) - timedelta(days=90)


def _meant_otherwise(signed: Any) -> None:
    """Encode the modulus as a negative number, as many Estonian identity cards do."""
    public = signed["subject_public_key_info"]["public_key"].parsed
    public["modulus"] = public["modulus"].native - (1 << public["modulus"].native.bit_length())
    signed["subject_public_key_info"]["public_key"] = asn1_core.ParsableOctetBitString(public.dump(force=True))


def test_a_key_without_the_zero_in_front_is_read_as_it_is_meant() -> None:
    key = rsa.generate_private_key(65537, 2048)
    leaf, *issuers = chain(leaf=key)
    odd, (middle, root) = forge.anew(leaf, curve_key("middle"), _meant_otherwise), map(forge.der_of, issuers)
    with pytest.raises(ValueError):
        x509.load_der_x509_certificate(odd).public_key()
    assert load(odd).public_key == key.public_key()
    assert check_chain(load(odd), [middle], [root], clock.now()) == (odd, middle, root)
