"""Certificates in files, and what makes them too weak to be trusted."""

import re
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PSS
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import ocsp
from cryptography.x509.oid import PublicKeyAlgorithmOID

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.keys.algorithms import OF_FIXED_LENGTH, verify, weakness, weakness_of_key

_EXPLICIT_CURVE = b"\x06\x07\x2a\x86\x48\xce\x3d\x01\x01"  # prime-field: parameters that describe a curve (X9.62)
PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
_RSA_KEY = re.compile(
    rb"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03(?:\x81.|\x82..)\x00\x30(?:\x81.|\x82..)\x02(?:\x81(.)|\x82(..))",
    re.DOTALL,
)
"""SubjectPublicKeyInfo of RSA, up to the bytes of the modulus."""
Signed = x509.Certificate | x509.CertificateRevocationList | ocsp.OCSPResponse
_Value = TypeVar("_Value", bound=x509.ExtensionType)


def misconfigured(sentence: str) -> DomainError:
    """Return the fault that an operator must mend."""
    return DomainError("configuration", sentence)


def public_key(certificate: x509.Certificate) -> object:
    """Return the certificate's key. On many Estonian identity cards the modulus of RSA lacks its leading zero and so
    appears to be negative; OpenSSL takes it as it is meant. Raise as cryptography does."""
    try:
        return certificate.public_key()
    except ValueError:
        content = certificate.tbs_certificate_bytes
        found = list(_RSA_KEY.finditer(content))
        if len(found) != 1:
            raise
        end = found[0].end() + int.from_bytes(found[0][1] or found[0][2], "big")
        modulus, exponent = content[found[0].end() : end], content[end + 2 : end + 2 + content[end + 1]]
        return rsa.RSAPublicNumbers(int.from_bytes(exponent, "big"), int.from_bytes(modulus, "big")).public_key()


def weakness_of_signature(signed: Signed, at: datetime) -> str:
    """Return why nobody should trust how something is signed, as the end of a sentence; empty where one may."""
    hash_, algorithm = signed.signature_hash_algorithm, signed.signature_algorithm_oid.dotted_string
    weak = weakness(hash_.name.replace("-", "_"), None, at) if hash_ else None
    if weak or (hash_ is None and algorithm not in OF_FIXED_LENGTH):
        return f"has a weak signature: {weak}" if weak else "is signed in a way that is not known"
    return ""


def weakness_of_certificate(certificate: x509.Certificate, at: datetime, *, is_root: bool = False) -> str:
    """Return why nobody should trust a certificate at a time, as the end of a sentence; empty where one may. How a root
    is signed does not matter: whoever trusts it trusts its key."""
    if _EXPLICIT_CURVE in certificate.tbs_certificate_bytes:
        return "describes its elliptic curve by explicit parameters instead of its name (RFC 5480 §2.1.1)"
    try:
        _ = certificate.subject, certificate.issuer
    except ValueError:
        return "has a name that cannot be read: its strings must be UTF-8 or ASCII"
    try:
        if weak := weakness_of_key(public_key(certificate), at):
            return f"has a weak key: {weak}"
        return "" if is_root else weakness_of_signature(certificate, at)
    except (UnsupportedAlgorithm, ValueError):
        return "is signed in a way that is not known"


def is_made_by(issuer: x509.Certificate, signed: Signed, content: bytes) -> bool:
    """Return whether the issuer's key signed the content of a certificate, list or answer. A key for RSASSA-PSS alone
    makes no other signatures (RFC 4055 §1.2)."""
    try:
        key, hash_ = issuer.public_key(), signed.signature_hash_algorithm
        way = getattr(signed, "signature_algorithm_parameters", None)  # an OCSPResponse does not give them
        if isinstance(key, rsa.RSAPublicKey) and (is_pss(issuer) and not isinstance(way, PSS)):
            return False
        if hash_ is None and signed.signature_algorithm_oid != issuer.public_key_algorithm_oid:
            return False
        verify(key, signed.signature, content, hash_, way)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def read_certificates(path: Path) -> list[x509.Certificate]:
    """Return every certificate of a PEM file, in the order of the file. Raise ``DomainError("configuration", …)`` when
    the file cannot be read, or holds none or a damaged one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DomainError("configuration", f"The certificates {path} cannot be read: {error.strerror}.") from error
    return certificates_of(content, str(path))


def certificates_of(content: bytes, name: str) -> list[x509.Certificate]:
    """Return every certificate in the content of a PEM file, in its order. ``name``: that of the file. Raise as
    :func:`read_certificates` does."""
    try:
        return x509.load_pem_x509_certificates(content)
    except ValueError as error:
        none = b"-----BEGIN CERTIFICATE-----" not in content
        why = "no certificate in PEM form" if none else "a certificate that cannot be read"
        raise DomainError("configuration", f"{name} holds {why}.") from error


def read_roots(path: Path) -> list[bytes]:
    """Return the DER of every certificate of a PEM file. Raise as :func:`read_certificates` does."""
    return [certificate.public_bytes(Encoding.DER) for certificate in read_certificates(path)]


def is_pss(certificate: x509.Certificate) -> bool:
    """Return whether the certificate's key is for RSASSA-PSS alone (RFC 4055 §1.2)."""
    return certificate.public_key_algorithm_oid == PublicKeyAlgorithmOID.RSASSA_PSS


def may_sign(certificate: x509.Certificate) -> bool:
    """Return whether the certificate's key usage allows signatures, or is absent."""
    usage = extension(certificate, x509.KeyUsage)
    return usage is None or usage.digital_signature or usage.content_commitment


def extension(certificate: x509.Certificate, kind: type[_Value]) -> _Value | None:
    """Return the value of an extension; ``None`` where it is absent."""
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
