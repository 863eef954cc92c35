"""How long each algorithm may be relied on, by ETSI TS 119 312 V2.1.1."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, mldsa, rsa

from paraph.keys.algorithms import end_of_key, weakness, weakness_of_key
from paraph.keys.chains import NoChain, find_chain
from tests.keys.odd_chains import issued, key, name, root

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


@pytest.mark.parametrize("bits", [1900, 2047, 2048, 2999])
def test_shorter_rsa_ends_with_2028(bits: int) -> None:
    assert weakness("RSA", bits, _NOW) is weakness("RSA", bits, _LAST_MOMENT) is None
    assert weakness("RSA", bits, _AFTER) == f"RSA of {bits} bits is not accepted after 2028-12-31"


def test_longer_rsa_has_no_end_and_short_rsa_never_counts() -> None:
    assert weakness("RSA", 3000, _FAR) is None
    for bits in (None, 0, 1024, 1899):
        assert weakness("RSA", bits, _NOW)


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


def test_a_key_of_another_kind_is_not_known() -> None:
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
