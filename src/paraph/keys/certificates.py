"""Certificates of signing keys and roots: read, checked when a key is opened, and for their expiry at each signature.

Strong enough to be trusted, by ETSI TS 119 312, are RSA from 2048 bits on, elliptic curves from 256 bits on, and hashes
from SHA-256 on. SHA-1 and MD5 are broken, and SHA-224 has no longer been recommended since 2026.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys.signing_key import ECDSA_SHA256, RSA_SHA256

_SMALLEST_RSA = 2048
_SMALLEST_CURVE = 256
_SHORTEST_HASH = 32  # bytes
_LONGEST_CHAIN = 10
PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey


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


def read_certificates(path: Path) -> list[x509.Certificate]:
    """Return every certificate of a PEM file, in the order of the file.

    Raise ``DomainError("configuration", …)`` when the file cannot be read or holds none.
    """
    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise DomainError("configuration", f"The certificates {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise DomainError("configuration", f"{path} holds no certificate in PEM form.") from error


def read_roots(path: Path) -> list[bytes]:
    """DER of every certificate of a PEM file. Raises as :func:`read_certificates` does."""
    return [certificate.public_bytes(Encoding.DER) for certificate in read_certificates(path)]


def public_key(certificate: x509.Certificate) -> PublicKey:
    """Return the public key of a certificate. Raise ``DomainError`` unless it is RSA or an elliptic curve."""
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        return key
    raise DomainError("configuration", f"{subject(certificate)} has a key that is neither RSA nor an elliptic curve.")


def algorithm_of(key: PublicKey) -> str:
    return RSA_SHA256 if isinstance(key, rsa.RSAPublicKey) else ECDSA_SHA256


def fingerprint(key: PublicKey) -> str:
    """Return the first 16 hexadecimal digits of SHA-256 of the public key (SubjectPublicKeyInfo)."""
    return tokens.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hex()[:16]


def subject(certificate: x509.Certificate) -> str:
    """Return the certificate's subject, as the beginning of a sentence."""
    return f'The certificate "{certificate.subject.rfc4514_string()}"'


def pick(certificates: Sequence[x509.Certificate], key: PublicKey) -> x509.Certificate:
    """Return the certificate of ``key``. Raise ``DomainError`` when there is none."""
    for certificate in certificates:
        if certificate.public_key() == key:
            return certificate
    raise DomainError("configuration", "The signing key does not match its certificate.")


def pick_by_signature(certificates: Sequence[x509.Certificate], message: bytes, signature: bytes) -> x509.Certificate:
    """Return the certificate whose key made the signature over SHA-256 of ``message``, for keys that cannot be read.
    Raise ``DomainError`` when there is none."""
    for certificate in certificates:
        try:
            _verify(certificate.public_key(), message, signature)
        except (InvalidSignature, UnsupportedAlgorithm, ValueError):
            continue
        return certificate
    raise DomainError("configuration", "The signing key does not match its certificate.")


def tops(certificates: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """Return the certificates that none of the others has issued."""
    return [
        certificate
        for certificate in certificates
        if not any(other != certificate and _issued(certificate, other) for other in certificates)
    ]


def chain_above(leaf: x509.Certificate, others: Sequence[x509.Certificate]) -> tuple[x509.Certificate, ...]:
    """Return the issuers of ``leaf`` among ``others``, nearest first, up to the first one that is missing."""
    chain: list[x509.Certificate] = []
    current = leaf
    while current.issuer != current.subject and len(chain) < _LONGEST_CHAIN:
        issuer = next((other for other in others if _issued(current, other)), None)
        if issuer is None:
            break
        chain.append(issuer)
        current = issuer
    return tuple(chain)


def check_usable(certificate: x509.Certificate) -> None:
    """Refuse a certificate that is not valid yet, has expired, has too small a key, or is not for signing.

    Raise ``DomainError("configuration", …)`` with one sentence.
    """
    name, moment = subject(certificate), clock.now()
    if moment < certificate.not_valid_before_utc:
        raise DomainError("configuration", f"{name} is valid only from {clock.iso(certificate.not_valid_before_utc)}.")
    if moment > certificate.not_valid_after_utc:
        raise DomainError("configuration", f"{name} expired on {clock.iso(certificate.not_valid_after_utc)}.")
    if weakness := weakness_of_key(public_key(certificate)):
        raise DomainError("configuration", f"{name} {weakness}.")
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return
    if not (usage.digital_signature or usage.content_commitment):
        raise DomainError("configuration", f"{name} may not be used for signatures, says its key usage.")


def check_strength(own: x509.Certificate, issuers: Sequence[x509.Certificate]) -> None:
    """Refuse a certificate that nobody would trust for the weakness of a key or hash in its chain, its own included.

    Raise ``DomainError("configuration", …)`` with one sentence.
    """
    for certificate in (own, *issuers):
        is_root = certificate.issuer == certificate.subject
        if weakness := weakness_of_certificate(certificate, is_root=is_root):
            raise DomainError("configuration", f"{subject(certificate)} {weakness}.")


def _verify(key: object, message: bytes, signature: bytes) -> None:
    if isinstance(key, rsa.RSAPublicKey):
        key.verify(signature, message, PKCS1v15(), SHA256())
    elif isinstance(key, ec.EllipticCurvePublicKey):
        key.verify(signature, message, ec.ECDSA(SHA256()))
    else:
        raise UnsupportedAlgorithm("neither RSA nor an elliptic curve")


def _issued(child: x509.Certificate, parent: x509.Certificate) -> bool:
    try:
        child.verify_directly_issued_by(parent)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


@dataclass(frozen=True)
class UsableCertificate:
    """A certificate that may sign, with its chain, in the form of :class:`~paraph.keys.signing_key.SigningKey`."""

    own: x509.Certificate
    certificate: bytes
    chain: tuple[bytes, ...]
    algorithm: str

    def check_not_expired(self) -> None:
        """Raise ``DomainError("configuration", …)`` once the certificate has expired."""
        if clock.now() > self.own.not_valid_after_utc:
            until = clock.iso(self.own.not_valid_after_utc)
            raise DomainError("configuration", f"{subject(self.own)} expired on {until}.")


def usable_certificate(own: x509.Certificate, others: Sequence[x509.Certificate]) -> UsableCertificate:
    """Check a key's own certificate and find its issuers among ``others``. Raise ``DomainError("configuration", …)``
    when it may not sign now."""
    check_usable(own)
    issuers = chain_above(own, others)
    check_strength(own, issuers)
    chain = tuple(issuer.public_bytes(Encoding.DER) for issuer in issuers)
    return UsableCertificate(own, own.public_bytes(Encoding.DER), chain, algorithm_of(public_key(own)))
