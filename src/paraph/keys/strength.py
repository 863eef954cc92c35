"""Which keys and hashes are strong enough to be trusted, by ETSI TS 119 312.

RSA from 2048 bits on, elliptic curves from 256 bits on, and hashes from SHA-256 on. SHA-1 and MD5 are broken, and
SHA-224 has no longer been recommended since 2026.
"""

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa

_SMALLEST_RSA = 2048
_SMALLEST_CURVE = 256
_SHORTEST_HASH = 32  # bytes


def weakness_of_key(key: object) -> str:
    """Return why nobody should trust a public key, as the end of a sentence; empty for a strong one."""
    if isinstance(key, rsa.RSAPublicKey):
        small = key.key_size < _SMALLEST_RSA
        return f"has an RSA key of {key.key_size} bits; {_SMALLEST_RSA} are needed" if small else ""
    if isinstance(key, ec.EllipticCurvePublicKey):
        small = key.key_size < _SMALLEST_CURVE
        return f"has an elliptic curve of {key.key_size} bits; {_SMALLEST_CURVE} are needed" if small else ""
    return "has a key that is neither RSA nor an elliptic curve"


def weakness_of_hash(algorithm: hashes.HashAlgorithm | None) -> str:
    """Return why nobody should trust a signature over this hash, as the end of a sentence; empty for a strong one."""
    if algorithm is None:
        return "is signed in a way that is not known"
    name = algorithm.name.upper().replace("SHA", "SHA-")
    short = algorithm.digest_size < _SHORTEST_HASH
    return f"is signed with {name}, which is not accepted; SHA-256 is needed" if short else ""


def weakness_of_certificate(certificate: x509.Certificate, *, is_root: bool = False) -> str:
    """Return why nobody should trust a certificate, as the end of a sentence; empty for a strong one. How a root is
    signed does not matter: who trusts it trusts its key."""
    try:
        weak_key = weakness_of_key(certificate.public_key())
        return weak_key or ("" if is_root else weakness_of_hash(certificate.signature_hash_algorithm))
    except (UnsupportedAlgorithm, ValueError):
        return "is signed in a way that is not known"
