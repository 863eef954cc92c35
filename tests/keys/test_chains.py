"""Building a chain is bounded, whatever certificates are offered, and an issuer is taken only for its purposes. How
long an algorithm may be relied on is said by ETSI TS 119 312 V2.1.1. Other tests of chains: pdf/sealing/test_keys."""

import time
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, mldsa, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.algorithms import end_of_key, weakness, weakness_of_key
from paraph.keys.chains import NoChain, find_chain
from tests import independent
from tests.keys.odd_chains import below_root, issued, key, leaf, middle, name, pem, root

_OID = x509.ObjectIdentifier
_MAIL, _TIMESTAMPS = ExtendedKeyUsageOID.EMAIL_PROTECTION, ExtendedKeyUsageOID.TIME_STAMPING
_ANY = ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE
_DOCUMENTS = [_OID("1.3.6.1.5.5.7.3.36"), _OID("1.3.6.1.4.1.311.10.3.12"), _OID("1.2.840.113583.1.1.5")]
_OTHERS = [
    ExtendedKeyUsageOID.SERVER_AUTH,
    ExtendedKeyUsageOID.CLIENT_AUTH,
    ExtendedKeyUsageOID.CODE_SIGNING,
    ExtendedKeyUsageOID.OCSP_SIGNING,
    ExtendedKeyUsageOID.SMARTCARD_LOGON,
    _OID("1.2.3.4.5"),
]


def _copies(count: int, signed_by: str) -> list[x509.Certificate]:
    public = key("root").public_key()
    return [issued(name("Root"), public, name("Root"), key(signed_by), ca=True) for _ in range(count)]


def test_certificates_that_all_issued_each_other_are_looked_at_once() -> None:
    own, crowd = below_root(), _copies(150, "root")
    began = time.process_time()
    with pytest.raises(NoChain):
        find_chain(own, crowd, [root(of=key("another root"))], clock.now())
    assert time.process_time() - began < 5
    assert find_chain(own, crowd, [crowd[-1]], clock.now()) == (own, crowd[-1])


def test_more_possible_issuers_than_anybody_has_are_not_tried() -> None:
    wrong = [issued(name("Root"), key("other").public_key(), name("Root"), key("root"), ca=True) for _ in range(250)]
    with pytest.raises(NoChain, match="has too many possible issuers"):
        find_chain(below_root(), wrong, [root(of=key("another root"))], clock.now())


def test_the_shortest_of_several_chains_is_taken() -> None:
    crossed = issued(name("Root"), key("root").public_key(), name("Older Root"), key("older"), ca=True)
    own, between, top, older = leaf(), middle(), root(), root("Older Root", key("older"))
    for others in ([crossed, between], [between, crossed]):
        assert find_chain(own, others, [older, top], clock.now()) == (own, between, top)
        assert find_chain(own, others, [older], clock.now()) == (own, between, crossed, older)


@pytest.mark.parametrize("of_leaf, for_it", [((), _MAIL), ((_MAIL,), _MAIL), ((_TIMESTAMPS,), _TIMESTAMPS)])
def test_an_issuer_says_that_it_is_for_such_certificates_or_nothing(
    of_leaf: tuple[x509.ObjectIdentifier, ...], for_it: x509.ObjectIdentifier, tmp_path: Path
) -> None:
    """Every purpose is tried alone and beside another. Of the purposes for documents OpenSSL knows only that of mail,
    and it asks the issuer of a timestamp authority for none."""
    own = leaf(extensions=[(x509.ExtendedKeyUsage(of_leaf), True)] if of_leaf else [])
    fit = {_TIMESTAMPS, _ANY} if for_it == _TIMESTAMPS else {_MAIL, _ANY, *_DOCUMENTS}
    alone = [_MAIL, _TIMESTAMPS, _ANY, *_DOCUMENTS, *_OTHERS]
    for purposes in [(), *((each,) for each in alone), *product(_OTHERS, alone)]:
        issuer = middle(extensions=[(x509.ExtendedKeyUsage(purposes), False)] if purposes else [])
        taken = not purposes or not fit.isdisjoint(purposes)
        assert _is_trusted(own, issuer) == taken, purposes
        by_openssl = for_it == _TIMESTAMPS or not purposes or _MAIL in purposes
        assert _openssl_trusts(own, issuer, "timestampsign" if for_it == _TIMESTAMPS else "smimesign", tmp_path) == (
            by_openssl
        ), purposes


def _is_trusted(own: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        return len(find_chain(own, [issuer], [root()], clock.now())) == 3
    except NoChain as error:
        assert error.certificate == issuer and error.fault.startswith("may not issue certificates for ")
        return False


def _openssl_trusts(own: x509.Certificate, issuer: x509.Certificate, purpose: str, folder: Path) -> bool:
    for file, certificate in (("own", own), ("issuer", issuer), ("root", root())):
        (folder / file).write_bytes(pem(certificate))
    words = f"verify -purpose {purpose} -CAfile root -untrusted issuer own".split()
    return "own: OK" in independent.openssl(*words, folder=folder)


_NOW = datetime(2026, 12, 1, tzinfo=UTC)
_LAST_MOMENT = datetime(2028, 12, 31, 23, 59, 59, tzinfo=UTC)
_AFTER = _LAST_MOMENT + timedelta(seconds=1)
_FAR = datetime(2126, 1, 1, tzinfo=UTC)


def test_hashes_are_those_of_the_table() -> None:
    for hash_ in ("sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "shake_256"):
        assert weakness(hash_, None, _NOW) is weakness(hash_, None, _FAR) is None
    for hash_ in ("sha1", "md5", "sha224", "sha3_224", "ripemd160", "anything"):
        for moment in (datetime(1999, 1, 1, tzinfo=UTC), _NOW, _FAR):
            assert str(weakness(hash_, None, moment)).endswith(" is not accepted")


def test_rsa_counts_by_its_length() -> None:
    for bits in (1900, 2047, 2048, 2999):
        assert weakness("RSA", bits, _NOW) is weakness("RSA", bits, _LAST_MOMENT) is None
        assert weakness("RSA", bits, _AFTER) == f"RSA of {bits} bits is not accepted after 2028-12-31"
    assert weakness("RSA", 3000, _FAR) is None
    for short in (None, 0, 1024, 1899):
        assert weakness("RSA", short, _NOW)


def test_keys_are_those_of_the_table() -> None:
    for curve in ("SECP256R1", "SECP384R1", "SECP521R1", "BrainpoolP256R1", "BrainpoolP384R1", "BrainpoolP512R1"):
        assert weakness_of_key(ec.generate_private_key(getattr(ec, curve)()).public_key(), _FAR) is None
    for kind in (ed25519.Ed25519PrivateKey, ed448.Ed448PrivateKey):
        assert weakness_of_key(kind.generate().public_key(), _FAR) is None
    for lattice in (mldsa.MLDSA44PrivateKey, mldsa.MLDSA65PrivateKey, mldsa.MLDSA87PrivateKey):
        assert weakness_of_key(lattice.generate().public_key(), _FAR) is None
    for other in (ec.SECP192R1(), ec.SECP224R1(), ec.SECP256K1()):
        weak = ec.generate_private_key(other).public_key()
        assert weakness_of_key(weak, _NOW) == f"{other.name} of {other.key_size} bits is not accepted"
        assert end_of_key(weak) < datetime(2, 1, 1, tzinfo=UTC)
    assert weakness_of_key(dsa.generate_private_key(3072).public_key(), _NOW) == "a key of its kind is not known"


def test_a_chain_holds_until_its_weakest_key_ends() -> None:
    """The moment for which the chain is asked counts, not today."""
    short = key("short", "rsa-2048")
    certificate = issued(name("Short"), short.public_key(), name("Root"), key("root"), days=(-3650, 3650))
    own_root = root(days=(-3650, 3650))
    assert isinstance(short, rsa.RSAPrivateKey) and end_of_key(short.public_key()) < _AFTER
    assert find_chain(certificate, [], [own_root], _NOW)
    with pytest.raises(NoChain, match=r"has a weak key: RSA of 2048 bits is not accepted after 2028-12-31"):
        find_chain(certificate, [], [own_root], _AFTER)
