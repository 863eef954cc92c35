"""The one table of which hashes and keys may be relied on, and until when.

The figures are those of ETSI TS 119 312 V2.1.1 (2026-06): hashes of table 1, curves of table 3, parameter sets of
ML-DSA of table 3.1, suites of table 4, and lengths of RSA of table 6. For RSA below 3000 bits no certificates may be
issued after 2026, and existing ones end with 2028 (clause 8.4), so a signature counts until then. Whatever is not
listed here, such as SHA-1, MD5 and shorter keys, never counts. SHA-224, which the tables keep for RSA alone, is not one
of the hashes of PDF (ISO 32000-2, table 260; ISO/TS 32001). SHAKE256 is the hash that Ed448 and ML-DSA contain.
"""

from datetime import UTC, date, datetime
from typing import get_args

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, mldsa, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PSS, PKCS1v15
from cryptography.hazmat.primitives.hashes import HashAlgorithm

OF_FIXED_LENGTH = {
    "1.3.101.112": "Ed25519",
    "1.3.101.113": "Ed448",
    "2.16.840.1.101.3.4.3.17": "ML-DSA-44",
    "2.16.840.1.101.3.4.3.18": "ML-DSA-65",
    "2.16.840.1.101.3.4.3.19": "ML-DSA-87",
}
"""The algorithms whose keys are all of one length and which hash for themselves, by object identifier (RFC 8410, RFC
9881)."""
_FixedKey = (
    ed25519.Ed25519PublicKey
    | ed448.Ed448PublicKey
    | mldsa.MLDSA44PublicKey
    | mldsa.MLDSA65PublicKey
    | mldsa.MLDSA87PublicKey
)
PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | _FixedKey
_OPEN_END = date.max
_ENDS = dict.fromkeys(
    (
        "sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "shake_256",
        "secp256r1", "secp384r1", "secp521r1", "brainpoolP256r1", "brainpoolP384r1", "brainpoolP512r1",
        *OF_FIXED_LENGTH.values(),
    ),
    _OPEN_END,
)  # fmt: skip
_ENDS_OF_RSA = ((3000, _OPEN_END), (1900, date(2028, 12, 31)))
"""The least length in bits, and the last day on which keys of at least that length may be relied on; longest first."""


def weakness(name: str, key_bits: int | None, at: datetime) -> str | None:
    """Return why nobody should rely on an algorithm at a time, as a clause; ``None`` where one may. ``name``: a hash
    as :mod:`hashlib` names it, ``RSA``, an elliptic curve (``secp256r1``), or one of :data:`OF_FIXED_LENGTH`;
    ``key_bits``: the length of a key of RSA or of an elliptic curve."""
    end = _end(name, key_bits)
    if end is not None and at.astimezone(UTC).date() <= end:
        return None
    told = f"{name} of {key_bits} bits" if key_bits else f"the hash {name.upper().replace('SHA', 'SHA-')}"
    return f"{told} is not accepted" + (f" after {end}" if end else "")


def weakness_of_key(key: object, at: datetime) -> str | None:
    """Return why nobody should rely on a public key at a time, as a clause; ``None`` where one may."""
    named = _name_and_bits(key)
    return weakness(*named, at) if named else "a key of its kind is not known"


def end_of_key(key: object) -> datetime:
    """Return until when a public key may be relied on; for one that may never be, the beginning of time."""
    named = _name_and_bits(key)
    end = _end(*named) if named else None
    return datetime.combine(end or date.min, datetime.max.time(), UTC)


def verify(key: object, signature: bytes, content: bytes, hash_: HashAlgorithm | None, way: object = None) -> None:
    """Check that a key signed the content. ``hash_``: ``None`` for keys that hash for themselves; ``way``: the padding
    of RSA, PKCS #1 v1.5 where none is given; an elliptic curve always signs by ECDSA. Raise ``InvalidSignature``,
    or ``UnsupportedAlgorithm`` for what the key cannot do."""
    if isinstance(key, rsa.RSAPublicKey) and hash_ and isinstance(way, PSS | PKCS1v15 | None):
        key.verify(signature, content, way or PKCS1v15(), hash_)
    elif isinstance(key, ec.EllipticCurvePublicKey) and hash_ and isinstance(way, ec.ECDSA | None):
        key.verify(signature, content, ec.ECDSA(hash_))  # for SHA-1 there is no ``way``, but a reason to be told
    elif isinstance(key, _FixedKey) and hash_ is None:
        key.verify(signature, content)
    else:
        raise UnsupportedAlgorithm("no signature of such a key")


def _end(name: str, key_bits: int | None) -> date | None:
    if name == "RSA":
        return next((end for shortest, end in _ENDS_OF_RSA if (key_bits or 0) >= shortest), None)
    return _ENDS.get(name)


def _name_and_bits(key: object) -> tuple[str, int | None] | None:
    if isinstance(key, rsa.RSAPublicKey):
        return "RSA", key.key_size
    if isinstance(key, ec.EllipticCurvePublicKey):
        return key.curve.name, key.key_size
    for name, kind in zip(OF_FIXED_LENGTH.values(), get_args(_FixedKey), strict=True):
        if isinstance(key, kind):
            return name, None
    return None
