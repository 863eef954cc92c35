"""The algorithms of CMS by their identifiers: hashes, and what signs over which hash (RFC 4055, 5754, 8419, 9688, 9882;
ISO/TS 32001 and 32002). Which of them may be relied on until when stands in :mod:`paraph.keys.algorithms`."""

import hashlib
from collections.abc import Mapping

from cryptography.hazmat.primitives import hashes

from paraph.keys.algorithms import weakness, weakness_of_key
from paraph.pdf.pki import oids

__all__ = ["weakness", "weakness_of_key"]  # what belongs together is found here, too

HASHES: Mapping[str, hashes.HashAlgorithm] = {
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha3_256": hashes.SHA3_256(),
    "sha3_384": hashes.SHA3_384(),
    "sha3_512": hashes.SHA3_512(),
    "sha1": hashes.SHA1(),  # noqa: S303  to tell what is outdated from what was changed
    "sha224": hashes.SHA224(),
    "md5": hashes.MD5(),  # noqa: S303
}
"""Those over which RSA and elliptic curves sign, by their :mod:`hashlib` names."""
HASH_NAMES = {
    **oids.HASHES,
    oids.SHA1: "sha1",
    oids.MD5: "md5",
    oids.SHA224: "sha224",
    oids.SHA3_256: "sha3_256",
    oids.SHA3_384: "sha3_384",
    oids.SHA3_512: "sha3_512",
    oids.SHAKE256: "shake_256",
    oids.SHAKE256_LEN: "shake_256",
}
OF_RSA = {
    oids.RSA: "",
    oids.RSA_SHA256: "sha256",
    oids.RSA_SHA384: "sha384",
    oids.RSA_SHA512: "sha512",
    oids.RSA_SHA3_256: "sha3_256",
    oids.RSA_SHA3_384: "sha3_384",
    oids.RSA_SHA3_512: "sha3_512",
    oids.RSA_MD5: "md5",
    oids.RSA_SHA1: "sha1",
    oids.RSA_SHA224: "sha224",
}
"""The hash of RSA by PKCS #1 v1.5; empty where it is that of the digest."""
OF_ECDSA = {
    oids.EC_PUBLIC_KEY: "",
    oids.ECDSA_SHA256: "sha256",
    oids.ECDSA_SHA384: "sha384",
    oids.ECDSA_SHA512: "sha512",
    oids.ECDSA_SHA3_256: "sha3_256",
    oids.ECDSA_SHA3_384: "sha3_384",
    oids.ECDSA_SHA3_512: "sha3_512",
    oids.ECDSA_SHA1: "sha1",
    oids.ECDSA_SHA224: "sha224",
}
"""The hash of ECDSA, likewise."""
SUITED_HASHES = {
    "Ed25519": ("sha512",),
    "Ed448": ("shake_256",),
    "ML-DSA-44": ("sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "shake_256"),
    "ML-DSA-65": ("sha384", "sha512", "sha3_384", "sha3_512", "shake_256"),
    "ML-DSA-87": ("sha512", "sha3_512", "shake_256"),
}
"""The hashes of the digest that are as strong as what signs it (RFC 8419 §3.1, RFC 9882)."""
SHAKE256_BYTES = 64
"""How long digests of SHAKE256 are in CMS (RFC 8702 §3.1, RFC 8419 §2.3)."""


def digest_of(name: str, content: bytes) -> bytes:
    """Return the digest of content in memory, for the :mod:`hashlib` name of a hash."""
    return finished(hashlib.new(name, content))


def finished(hash_: "hashlib._Hash") -> bytes:
    """Return the digest; that of SHAKE256, which can have any length, as CMS has it."""
    return hash_.digest(SHAKE256_BYTES) if hash_.name == "shake_256" else hash_.digest()  # type: ignore[call-arg]
