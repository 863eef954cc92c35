"""Which algorithms may be relied on until when, by ETSI TS 119 312 V2.1.1."""

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


@pytest.mark.parametrize("name", ["sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "shake_256"])
def test_hashes_without_an_end(name: str) -> None:
    assert weakness(name, None, _NOW) is weakness(name, None, _FAR) is None


@pytest.mark.parametrize("name", ["sha1", "md5", "sha224", "sha3_224", "ripemd160", "anything"])
def test_other_hashes_never_count(name: str) -> None:
    for moment in (datetime(1999, 1, 1, tzinfo=UTC), _NOW, _FAR):
        assert str(weakness(name, None, moment)).endswith(" is not accepted")


@pytest.mark.parametrize("bits", [1900, 2047, 2048, 2999])
def test_shorter_rsa_ends_with_2028(bits: int) -> None:
    assert weakness("RSA", bits, _NOW) is weakness("RSA", bits, _LAST_MOMENT) is None
    assert weakness("RSA", bits, _AFTER) == f"RSA of {bits} bits is not accepted after 2028-12-31"


def test_longer_rsa_has_no_end_and_short_rsa_never_counts() -> None:
    assert weakness("RSA", 3000, _FAR) is None
    for bits in (None, 0, 1024, 1899):
        assert weakness("RSA", bits, _NOW)


@pytest.mark.parametrize(
    "curve",
    [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1(), ec.BrainpoolP256R1(), ec.BrainpoolP384R1(), ec.BrainpoolP512R1()],
    ids=lambda curve: curve.name,
)
def test_curves_are_those_of_the_table(curve: ec.EllipticCurve) -> None:
    assert weakness_of_key(ec.generate_private_key(curve).public_key(), _FAR) is None


@pytest.mark.parametrize("curve", [ec.SECP192R1(), ec.SECP224R1(), ec.SECP256K1()], ids=lambda curve: curve.name)
def test_other_curves_never_count(curve: ec.EllipticCurve) -> None:
    weak = ec.generate_private_key(curve).public_key()
    assert weakness_of_key(weak, _NOW) == f"{curve.name} of {curve.key_size} bits is not accepted"
    assert end_of_key(weak) < datetime(2, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "kind",
    [
        ed25519.Ed25519PrivateKey,
        ed448.Ed448PrivateKey,
        mldsa.MLDSA44PrivateKey,
        mldsa.MLDSA65PrivateKey,
        mldsa.MLDSA87PrivateKey,
    ],
)
def test_edwards_curves_and_lattices_have_no_end(
    kind: type[ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey | mldsa.MLDSA65PrivateKey],
) -> None:
    assert weakness_of_key(kind.generate().public_key(), _FAR) is None


def test_a_key_of_another_kind_is_not_known() -> None:
    assert weakness_of_key(dsa.generate_private_key(3072).public_key(), _NOW) == "a key of its kind is not known"


def test_a_chain_holds_until_its_weakest_key_ends() -> None:
    """The moment of the chain counts, not today."""
    short = key("short", "rsa-2048")
    certificate = issued(name("Short"), short.public_key(), name("Root"), key("root"), days=(-3650, 3650))
    own_root = root(days=(-3650, 3650))
    assert isinstance(short, rsa.RSAPrivateKey) and end_of_key(short.public_key()) < _AFTER
    assert find_chain(certificate, [], [own_root], _NOW)
    with pytest.raises(NoChain, match=r"has a weak key: RSA of 2048 bits is not accepted after 2028-12-31"):
        find_chain(certificate, [], [own_root], _AFTER)
