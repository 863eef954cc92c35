"""Certificates: read, ordered into chains, and checked before a key may use them."""

from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys.signing_key import ECDSA_SHA256, RSA_SHA256
from paraph.keys.strength import weakness_of_certificate, weakness_of_key

_LONGEST_CHAIN = 10

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey


def read_certificates(path: Path) -> list[x509.Certificate]:
    """Every certificate of a PEM file, in the order of the file.

    Raises ``DomainError("configuration", …)`` when the file cannot be read or holds none.
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
    """The public key of a certificate. Raises ``DomainError`` unless it is RSA or an elliptic curve."""
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        return key
    raise DomainError("configuration", f"{subject(certificate)} has a key that is neither RSA nor an elliptic curve.")


def algorithm_of(key: PublicKey) -> str:
    return RSA_SHA256 if isinstance(key, rsa.RSAPublicKey) else ECDSA_SHA256


def fingerprint(key: PublicKey) -> str:
    """The first 16 hexadecimal digits of SHA-256 of the public key (SubjectPublicKeyInfo)."""
    return tokens.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hex()[:16]


def subject(certificate: x509.Certificate) -> str:
    """The certificate's subject, as the beginning of a sentence."""
    return f'The certificate "{certificate.subject.rfc4514_string()}"'


def pick(certificates: Sequence[x509.Certificate], key: PublicKey) -> x509.Certificate:
    """The certificate of ``key``. Raises ``DomainError`` when there is none."""
    for certificate in certificates:
        if certificate.public_key() == key:
            return certificate
    raise DomainError("configuration", "The signing key does not match its certificate.")


def pick_by_signature(certificates: Sequence[x509.Certificate], message: bytes, signature: bytes) -> x509.Certificate:
    """The certificate whose key made the signature over SHA-256 of ``message``, for keys whose public key cannot be
    read. Raises ``DomainError`` when there is none."""
    for certificate in certificates:
        try:
            _verify(certificate.public_key(), message, signature)
        except (InvalidSignature, UnsupportedAlgorithm, ValueError):
            continue
        return certificate
    raise DomainError("configuration", "The signing key does not match its certificate.")


def tops(certificates: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """The certificates that none of the others has issued."""
    return [
        certificate
        for certificate in certificates
        if not any(other != certificate and _issued(certificate, other) for other in certificates)
    ]


def chain_above(leaf: x509.Certificate, others: Sequence[x509.Certificate]) -> tuple[x509.Certificate, ...]:
    """The issuers of ``leaf`` among ``others``, nearest first, up to the first one that is missing."""
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
    """Refuses a certificate that is not valid yet, has expired, has too small a key, or is not for signing.

    Raises ``DomainError("configuration", …)`` with one sentence.
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
    """Refuses a certificate that nobody would trust for the weakness of a key or hash in its chain, its own included.

    Raises ``DomainError("configuration", …)`` with one sentence.
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
