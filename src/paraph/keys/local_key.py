"""A private key in the memory of this process."""

from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

from paraph.keys.certificates import fingerprint, misconfigured
from paraph.keys.signing_key import RSA_PSS_SHA256, CertifiedKey, KeySignature, of_key, usable_certificate

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_PKCS12_SUFFIXES = {".p12", ".pfx"}


class LocalKey(CertifiedKey):
    """A :class:`~paraph.keys.signing_key.SigningKey` held in memory."""

    def __init__(self, private_key: PrivateKey, certificates: Sequence[x509.Certificate]) -> None:
        """``certificates``: the key's own and its issuers', in any order. Raise ``DomainError("configuration", …)``
        when none belongs to the key, or when that one may not sign now."""
        super().__init__(usable_certificate(certificates, of_key(private_key.public_key())))
        self.private_key: PrivateKey = private_key
        self.key_id: str = f"local:{fingerprint(private_key.public_key())}"

    def sign(self, message: bytes) -> KeySignature:
        """Sign SHA-256 of the message. Raise ``DomainError("configuration", …)`` once the certificate has expired."""
        self._usable_certificate.check_not_expired()
        if isinstance(self.private_key, rsa.RSAPrivateKey):
            is_pss = self.algorithm == RSA_PSS_SHA256
            padding = PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH) if is_pss else PKCS1v15()
            return KeySignature(self.private_key.sign(message, padding, SHA256()))
        return KeySignature(self.private_key.sign(message, ec.ECDSA(SHA256())))


def read_private_key(path: Path, passphrase: bytes) -> tuple[PrivateKey, list[x509.Certificate]]:
    """Return the key of a PEM or PKCS#12 file, and the certificates that a PKCS#12 file contains.

    Raise ``DomainError("configuration", …)`` when the file is missing, unreadable or does not open.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise misconfigured(f"The signing key {path} cannot be read: {error.strerror}.") from error
    try:
        if path.suffix.lower() in _PKCS12_SUFFIXES:
            return _from_pkcs12(path, content, passphrase)
        return _usable(path, load_pem_private_key(content, passphrase or None)), []
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise misconfigured(f"The signing key {path} is damaged or does not open with its passphrase.") from error


def encrypted_pem(key: PrivateKey, passphrase: bytes) -> bytes:
    """Return encrypted PKCS#8. The passphrase must be a derived key: the encryption barely slows guessing."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(passphrase))


def _from_pkcs12(path: Path, content: bytes, passphrase: bytes) -> tuple[PrivateKey, list[x509.Certificate]]:
    bundle = load_pkcs12(content, passphrase or None)
    certificates = [entry.certificate for entry in [bundle.cert, *bundle.additional_certs] if entry is not None]
    return _usable(path, bundle.key), certificates


def _usable(path: Path, key: object) -> PrivateKey:
    if isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        return key
    raise misconfigured(f"The signing key {path} is neither RSA nor an elliptic curve.")
