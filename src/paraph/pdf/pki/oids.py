"""Object identifiers of CMS, CAdES and timestamps, named as in their standards, and one of this project; and which hash
and which way of signing the identifiers of algorithms mean (RFC 4055, 5754, 8419, 9688, 9882; ISO/TS 32001 and 32002).

:mod:`paraph.keys.algorithms` says which algorithms may be relied on, and until when.
"""

import hashlib

from cryptography.hazmat.primitives import hashes

DATA = "1.2.840.113549.1.7.1"
SIGNED_DATA = "1.2.840.113549.1.7.2"
TST_INFO = "1.2.840.113549.1.9.16.1.4"

CONTENT_TYPE = "1.2.840.113549.1.9.3"
MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
SIGNING_TIME = "1.2.840.113549.1.9.5"
ALGORITHM_PROTECTION = "1.2.840.113549.1.9.52"
SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.12"
SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"
TIMESTAMP_TOKEN = "1.2.840.113549.1.9.16.2.14"  # noqa: S105 — an object identifier

SEAL_PURPOSE = "2.25.285769127322676019539055826652241602023"
"""The signed attribute of :mod:`paraph.pdf.pki.purpose`, under the arc of UUIDs (ITU-T X.667)."""

UNSIGNED = frozenset(
    {
        TIMESTAMP_TOKEN,
        "1.2.840.113549.1.9.6",  # countersignature
        "1.2.840.113549.1.9.16.2.21",  # complete certificate references
        "1.2.840.113549.1.9.16.2.22",  # complete revocation references
        "1.2.840.113549.1.9.16.2.23",  # certificate values
        "1.2.840.113549.1.9.16.2.24",  # revocation values
        "1.2.840.113549.1.9.16.2.25",  # CAdES-C timestamp
        "1.2.840.113549.1.9.16.2.26",  # timestamp of references
        "1.2.840.113549.1.9.16.2.48",  # archive timestamp, second version
        "0.4.0.1733.2.4",  # archive timestamp, third version
        "0.4.0.1733.2.5",  # long-term validation
    }
)
"""Attributes that may be added after signing (ETSI EN 319 122-1)."""

SHA256 = "2.16.840.1.101.3.4.2.1"
SHAKE256 = "2.16.840.1.101.3.4.2.12"
SHAKE256_LEN = "2.16.840.1.101.3.4.2.18"

RSA = "1.2.840.113549.1.1.1"
RSA_PSS = "1.2.840.113549.1.1.10"
MGF1 = "1.2.840.113549.1.1.8"
RSA_SHA256 = "1.2.840.113549.1.1.11"
EC_PUBLIC_KEY = "1.2.840.10045.2.1"
ECDSA_SHA256 = "1.2.840.10045.4.3.2"

_TABLE = (
    ("sha256", hashes.SHA256(), SHA256, RSA_SHA256, ECDSA_SHA256),
    ("sha384", hashes.SHA384(), "2.16.840.1.101.3.4.2.2", "1.2.840.113549.1.1.12", "1.2.840.10045.4.3.3"),
    ("sha512", hashes.SHA512(), "2.16.840.1.101.3.4.2.3", "1.2.840.113549.1.1.13", "1.2.840.10045.4.3.4"),
    ("sha3_256", hashes.SHA3_256(), "2.16.840.1.101.3.4.2.8", "2.16.840.1.101.3.4.3.14", "2.16.840.1.101.3.4.3.10"),
    ("sha3_384", hashes.SHA3_384(), "2.16.840.1.101.3.4.2.9", "2.16.840.1.101.3.4.3.15", "2.16.840.1.101.3.4.3.11"),
    ("sha3_512", hashes.SHA3_512(), "2.16.840.1.101.3.4.2.10", "2.16.840.1.101.3.4.3.16", "2.16.840.1.101.3.4.3.12"),
    # Known only to tell an outdated signature from a changed one.
    ("sha1", hashes.SHA1(), "1.3.14.3.2.26", "1.2.840.113549.1.1.5", "1.2.840.10045.4.1"),  # noqa: S303
    ("sha224", hashes.SHA224(), "2.16.840.1.101.3.4.2.4", "1.2.840.113549.1.1.14", "1.2.840.10045.4.3.1"),
    ("md5", hashes.MD5(), "1.2.840.113549.2.5", "1.2.840.113549.1.1.4", None),  # noqa: S303
)
"""The hashes over which RSA and elliptic curves sign: the :mod:`hashlib` name of each, its identifier, and those of RSA
by PKCS #1 v1.5 and of ECDSA over it."""
HASHES = {name: made for name, made, *_ in _TABLE}
"""By their :mod:`hashlib` names."""
HASH_NAMES = {identifier: name for name, _, identifier, *_ in _TABLE}
HASH_NAMES |= {SHAKE256: "shake_256", SHAKE256_LEN: "shake_256"}
OF_SEALS = {identifier: name for identifier, name in HASH_NAMES.items() if name in ("sha256", "sha384", "sha512")}
"""The hashes that seals and timestamps may use."""
OF_RSA = {RSA: "", **{rsa: name for name, _, _, rsa, _ in _TABLE}}
"""The hash of RSA by PKCS #1 v1.5; empty where it is that of the digest."""
OF_ECDSA = {EC_PUBLIC_KEY: "", **{ecdsa: name for name, *_, ecdsa in _TABLE if ecdsa}}
"""The hash of ECDSA, likewise."""
SUITED_HASHES = {
    "Ed25519": ("sha512",),
    "Ed448": ("shake_256",),
    "ML-DSA-44": ("sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "shake_256"),
    "ML-DSA-65": ("sha384", "sha512", "sha3_384", "sha3_512", "shake_256"),
    "ML-DSA-87": ("sha512", "sha3_512", "shake_256"),
}
"""The hashes of the digest that are as strong as the algorithm that signs it (RFC 8419 §3.1, RFC 9882)."""
SHAKE256_BYTES = 64
"""How long digests of SHAKE256 are in CMS (RFC 8702 §3.1, RFC 8419 §2.3)."""


def digest_of(name: str, content: bytes) -> bytes:
    """Return the digest of content in memory, for the :mod:`hashlib` name of a hash."""
    return finished(hashlib.new(name, content))


def finished(hash_: "hashlib._Hash") -> bytes:
    """Return the digest; that of SHAKE256, which can have any length, in the length that CMS uses."""
    return hash_.digest(SHAKE256_BYTES) if hash_.name == "shake_256" else hash_.digest()  # type: ignore[call-arg]
