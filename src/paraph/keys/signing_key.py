"""The interface of all signing keys, wherever their private keys live, and the key in the memory of this process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
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

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys.algorithms import verify
from paraph.keys.certificates import PublicKey, fingerprint, is_pss, may_sign, misconfigured, subject
from paraph.keys.chains import NoChain, find_chain, is_root

RSA_SHA256 = "RSASSA_PKCS1_V1_5_SHA_256"
RSA_PSS_SHA256 = "RSASSA_PSS_SHA_256"
ECDSA_SHA256 = "ECDSA_SHA_256"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
_PKCS12_SUFFIXES = {".p12", ".pfx"}


@dataclass(frozen=True)
class KeySignature:
    """A signature, and for a key behind a service the identifier of the call."""

    value: bytes
    """RSA: PKCS#1 v1.5, or PSS with MGF1 of SHA-256 and a salt of 32 bytes; elliptic curve: the DER of
    ``ECDSA-Sig-Value``. All over SHA-256."""
    request_id: str = ""
    """The key service's request identifier; empty for a key on this machine."""


class SigningKey(Protocol):
    """A private key with its certificate, which was checked when the key was opened."""

    @property
    def certificate(self) -> bytes:
        """DER of the key's own certificate."""

    @property
    def chain(self) -> tuple[bytes, ...]:
        """DER of the issuing certificates: the issuer of ``certificate`` first, the root last. It ends before an issuer
        that is missing; a key whose own certificate is the root has none."""

    @property
    def algorithm(self) -> str:
        """``RSASSA_PKCS1_V1_5_SHA_256``, ``RSASSA_PSS_SHA_256`` or ``ECDSA_SHA_256``; the journal's
        ``signing_algorithm``."""

    @property
    def key_id(self) -> str:
        """A stable name of the key, such as ``local:3f…`` or an ARN; the journal's ``kms_key_id``."""

    def sign(self, message: bytes) -> KeySignature:
        """Sign SHA-256 of ``message``. Raise ``DomainError`` when the key cannot be used."""


CSC_PREFIX = "csc+"
"""The beginning of a provider's address."""


@dataclass(frozen=True)
class CscClient:
    """The operator's credentials at a provider: ``PARAPH_CSC_CLIENT_ID``, ``PARAPH_CSC_CLIENT_SECRET`` and
    ``PARAPH_CSC_PIN``."""

    id: str = ""
    secret: str = field(default="", repr=False)
    pin: str = field(default="", repr=False)


class CertificateRefused(DomainError):
    """The key may not sign with its certificate; the message is a sentence that does not name the file."""

    def __init__(self, message: str) -> None:
        super().__init__("configuration", message)


@dataclass(frozen=True)
class UsableCertificate:
    """A certificate that may sign, with its chain, in the form of :class:`SigningKey`."""

    own: x509.Certificate
    certificate: bytes
    chain: tuple[bytes, ...]
    algorithm: str

    def check_not_expired(self) -> None:
        """Raise ``DomainError("configuration", …)`` once the certificate has expired."""
        if clock.now() > self.own.not_valid_after_utc:
            until = clock.iso(self.own.not_valid_after_utc)
            raise CertificateRefused(f"{subject(self.own)} expired on {until}.")


class CertifiedKey:
    """What all :class:`SigningKey` have in common: the certificate that may sign, found when the key was opened."""

    def __init__(self, usable: UsableCertificate) -> None:
        self._usable_certificate = usable
        self.certificate, self.chain, self.algorithm = usable.certificate, usable.chain, usable.algorithm


def usable_certificate(
    certificates: Sequence[x509.Certificate], belongs: Callable[[x509.Certificate], bool]
) -> UsableCertificate:
    """Return the certificate that ``belongs`` to a key, with its issuers up to a root, or up to the first whose own
    issuer is missing. Of several, as after a renewal, take the first that may sign now, preferably with a root. Raise
    :class:`CertificateRefused` where none belongs to the key, or none may sign."""
    usable, refusals = list[UsableCertificate](), list[CertificateRefused]()
    for own in certificates:
        if belongs(own):
            try:
                usable.append(_checked(own, certificates))
            except CertificateRefused as error:
                refusals.append(error)
    if not usable:
        raise refusals[0] if refusals else CertificateRefused("The signing key does not match its certificate.")
    return max(usable, key=lambda each: reaches_root(each.certificate, each.chain))  # the first of the best


def reaches_root(certificate: bytes, chain: Sequence[bytes]) -> bool:
    """Return whether the last of these certificates (DER) is a root; else its issuer is missing."""
    return is_root(x509.load_der_x509_certificate((certificate, *chain)[-1]))


def of_key(key: PublicKey) -> Callable[[x509.Certificate], bool]:
    """Return a function that tells whether a certificate is for this key."""

    def belongs(certificate: x509.Certificate) -> bool:
        try:
            return certificate.public_key() == key
        except (UnsupportedAlgorithm, ValueError):  # somebody else's
            return False

    return belongs


def is_signature(certificate: x509.Certificate, message: bytes, signature: bytes, *, is_pss: bool = False) -> bool:
    """Return whether the certificate's key made the signature over SHA-256 of ``message``, in the form of
    :class:`KeySignature`. ``is_pss``: whether it was made by RSASSA-PSS."""
    way = PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH) if is_pss else None
    try:
        verify(certificate.public_key(), signature, message, SHA256(), way)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True


def _checked(own: x509.Certificate, certificates: Sequence[x509.Certificate]) -> UsableCertificate:
    try:
        roots = [each for each in certificates if is_root(each)]
        issuers = find_chain(own, certificates, roots, clock.now())[1:]
    except NoChain as error:
        if error.fault:
            raise CertificateRefused(f"{subject(error.certificate)} {error.fault}.") from error
        issuers = error.issuers
    if not may_sign(own):
        raise CertificateRefused(f"{subject(own)} may not be used for signatures, says its key usage.")
    chain = tuple(issuer.public_bytes(Encoding.DER) for issuer in issuers)
    return UsableCertificate(own, own.public_bytes(Encoding.DER), chain, _algorithm(own))


def _algorithm(certificate: x509.Certificate) -> str:
    if isinstance(certificate.public_key(), ec.EllipticCurvePublicKey):
        return ECDSA_SHA256
    return RSA_PSS_SHA256 if is_pss(certificate) else RSA_SHA256


class LocalKey(CertifiedKey):
    """A :class:`SigningKey` held in memory."""

    def __init__(self, private_key: PrivateKey, certificates: Sequence[x509.Certificate]) -> None:
        """``certificates``: the key's own and its issuers', in any order. Raise ``DomainError("configuration", …)``
        when none belongs to the key, or when the one that does may not sign now."""
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
    """Return the key of a PEM or PKCS#12 file, and the certificates that a PKCS#12 file contains. Raise
    ``DomainError("configuration", …)`` when the file is missing, unreadable or does not open."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise misconfigured(f"The signing key {path} cannot be read: {error.strerror}.") from error
    try:
        if path.suffix.lower() in _PKCS12_SUFFIXES:
            bundle = load_pkcs12(content, passphrase or None)
            enclosed = [each.certificate for each in [bundle.cert, *bundle.additional_certs] if each is not None]
            return _usable(path, bundle.key), enclosed
        return _usable(path, load_pem_private_key(content, passphrase or None)), []
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise misconfigured(f"The signing key {path} is damaged or does not open with its passphrase.") from error


def encrypted_pem(key: PrivateKey, passphrase: bytes) -> bytes:
    """Return encrypted PKCS#8. The passphrase must be a derived key: the encryption barely slows guessing."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(passphrase))


def _usable(path: Path, key: object) -> PrivateKey:
    if isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        return key
    raise misconfigured(f"The signing key {path} is neither RSA nor an elliptic curve.")
