"""Certificates in files, and how strong a key or hash must be.

Strong enough to be trusted, by ETSI TS 119 312, are RSA from 2048 bits on, elliptic curves from 256 bits on, and hashes
from SHA-256 on. SHA-1 and MD5 are broken, and SHA-224 has no longer been recommended since 2026.
"""

from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import PublicKeyAlgorithmOID

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

_SMALLEST_RSA = 2048
_SMALLEST_CURVE = 256
_CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1, ec.BrainpoolP256R1, ec.BrainpoolP384R1, ec.BrainpoolP512R1)
_EXPLICIT_CURVE = b"\x06\x07\x2a\x86\x48\xce\x3d\x01\x01"  # prime-field: parameters that describe a curve (X9.62)
_SHORTEST_HASH = 32  # bytes
PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
_Value = TypeVar("_Value", bound=x509.ExtensionType)


def weakness_of_key(key: object) -> str:
    """Return why nobody should trust a public key, as the end of a sentence; empty for a strong one."""
    if isinstance(key, rsa.RSAPublicKey):
        small = key.key_size < _SMALLEST_RSA
        return f"has an RSA key of {key.key_size} bits; {_SMALLEST_RSA} are needed" if small else ""
    if isinstance(key, ec.EllipticCurvePublicKey):
        if key.key_size < _SMALLEST_CURVE:
            return f"has an elliptic curve of {key.key_size} bits; {_SMALLEST_CURVE} are needed"
        return (
            "" if isinstance(key.curve, _CURVES) else f"has the elliptic curve {key.curve.name}, which is not accepted"
        )
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
    if _EXPLICIT_CURVE in certificate.tbs_certificate_bytes:
        return "describes its elliptic curve by explicit parameters instead of its name (RFC 5480 §2.1.1)"
    try:
        _ = certificate.subject, certificate.issuer
    except ValueError:
        return "has a name that cannot be read: its strings must be UTF-8 or ASCII"
    try:
        weak_key = weakness_of_key(certificate.public_key())
        return weak_key or ("" if is_root else weakness_of_hash(certificate.signature_hash_algorithm))
    except (UnsupportedAlgorithm, ValueError):
        return "is signed in a way that is not known"


def read_certificates(path: Path) -> list[x509.Certificate]:
    """Return every certificate of a PEM file, in the order of the file.

    Raise ``DomainError("configuration", …)`` when the file cannot be read, or holds none or a damaged one.
    """
    try:
        content = path.read_bytes()
        return x509.load_pem_x509_certificates(content)
    except OSError as error:
        raise DomainError("configuration", f"The certificates {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        none = b"-----BEGIN CERTIFICATE-----" not in content
        why = "no certificate in PEM form" if none else "a certificate that cannot be read"
        raise DomainError("configuration", f"{path} holds {why}.") from error


def read_roots(path: Path) -> list[bytes]:
    """Return the DER of every certificate of a PEM file. Raises as :func:`read_certificates` does."""
    return [certificate.public_bytes(Encoding.DER) for certificate in read_certificates(path)]


def is_pss(certificate: x509.Certificate) -> bool:
    """Return whether the certificate's key is for RSASSA-PSS alone (RFC 4055 §1.2)."""
    return certificate.public_key_algorithm_oid == PublicKeyAlgorithmOID.RSASSA_PSS


def may_sign(certificate: x509.Certificate) -> bool:
    """Return whether the key is for signatures, or nothing is said of what it is for."""
    usage = extension(certificate, x509.KeyUsage)
    return usage is None or usage.digital_signature or usage.content_commitment


def extension(certificate: x509.Certificate, kind: type[_Value]) -> _Value | None:
    """Return the value of an extension, ``None`` for none."""
    return next((each.value for each in certificate.extensions if isinstance(each.value, kind)), None)


def fingerprint(key: PublicKey) -> str:
    """Return the first 16 hexadecimal digits of SHA-256 of the public key (SubjectPublicKeyInfo)."""
    return tokens.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hex()[:16]


def subject(certificate: x509.Certificate) -> str:
    """Return the certificate's subject, or else its serial number, as the beginning of a sentence."""
    try:
        return f'The certificate "{certificate.subject.rfc4514_string()}"'
    except ValueError:
        return f"The certificate with the serial number {certificate.serial_number:x}"
