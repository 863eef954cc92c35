"""X.509 certificates, parsed once per process, with what CMS needs of them."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.pdf.pki import der

_VERSION = der.CONTEXT | der.CONSTRUCTED  # [0] EXPLICIT, absent in version 1
_OTHER_PURPOSES = frozenset(
    {
        ExtendedKeyUsageOID.SERVER_AUTH,
        ExtendedKeyUsageOID.CLIENT_AUTH,
        ExtendedKeyUsageOID.TIME_STAMPING,
        ExtendedKeyUsageOID.OCSP_SIGNING,
    }
)


class CertificateError(ValueError):
    """The certificate cannot be read."""


@dataclass(frozen=True)
class Certificate:
    """The names of a certificate, its key, and what it may sign."""

    encoded: bytes
    parsed: x509.Certificate
    issuer: bytes
    """DER of the issuer's name."""
    subject: bytes
    """DER of the subject's name."""
    serial: int
    key_identifier: bytes
    public_key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey
    name: str
    """Common name, else organization, else the whole subject."""
    for_timestamps_only: bool
    """The extended key usage is critical and timeStamping alone (RFC 3161 §2.3)."""
    for_documents: bool
    """The key usage, where there is one, allows signatures, and the extended one allows more than TLS, timestamps and
    OCSP."""

    def __hash__(self) -> int:
        return hash(self.encoded)

    def digest(self, algorithm: str) -> bytes:
        return _digest(self.encoded, algorithm)


@lru_cache(maxsize=256)
def load(encoded: bytes) -> Certificate:
    """Parses DER. Raises :class:`CertificateError` where it is damaged or its key is neither RSA nor an elliptic
    curve."""
    try:
        parsed = x509.load_der_x509_certificate(encoded)
        key = parsed.public_key()
        identifier = _extension(parsed, x509.SubjectKeyIdentifier)
        extended = _extension(parsed, x509.ExtendedKeyUsage)
        usage = _extension(parsed, x509.KeyUsage)
        fields = der.read(parsed.tbs_certificate_bytes).children()
        issuer, _, subject = fields[3:6] if fields[0].tag == _VERSION else fields[2:5]
        name, serial = common_name(parsed.subject), parsed.serial_number
    except Exception as error:
        raise CertificateError("a certificate cannot be read") from error
    if not isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        raise CertificateError("a certificate has a key that is neither RSA nor an elliptic curve")
    return Certificate(
        encoded=encoded,
        parsed=parsed,
        issuer=issuer.raw,
        subject=subject.raw,
        serial=serial,
        key_identifier=identifier.value.digest if identifier else b"",
        public_key=key,
        name=name,
        for_documents=(usage is None or usage.value.digital_signature or usage.value.content_commitment)
        and (extended is None or not _OTHER_PURPOSES.issuperset(extended.value)),
        for_timestamps_only=extended is not None
        and extended.critical
        and list(extended.value) == [ExtendedKeyUsageOID.TIME_STAMPING],
    )


def without_root(certificate: bytes, chain: tuple[bytes, ...]) -> list[bytes]:
    """Returns the certificates (DER) to send along with a signature. Verifiers have the root themselves, and no
    signature would cover a copy of it."""
    return [certificate, *(link for link in chain if load(link).issuer != load(link).subject)]


@lru_cache(maxsize=1024)
def is_issued_by(child: Certificate, issuer: Certificate) -> bool:
    """Whether the issuer's key signed the child's certificate."""
    try:
        child.parsed.verify_directly_issued_by(issuer.parsed)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def purposes(certificate: x509.Certificate) -> list[x509.ObjectIdentifier]:
    """Returns the extended key usages; an empty list where the certificate has no such restriction."""
    extended = _extension(certificate, x509.ExtendedKeyUsage)
    return list(extended.value) if extended else []


def common_name(name: x509.Name) -> str:
    """Returns the common name, else the organization, else the whole name."""
    for kind in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME):
        if found := name.get_attributes_for_oid(kind):
            return str(found[0].value)
    return name.rfc4514_string()


Extension = TypeVar("Extension", bound=x509.ExtensionType)


def _extension(certificate: x509.Certificate, kind: type[Extension]) -> x509.Extension[Extension] | None:
    try:
        return certificate.extensions.get_extension_for_class(kind)
    except x509.ExtensionNotFound:
        return None


@lru_cache(maxsize=1024)
def _digest(encoded: bytes, algorithm: str) -> bytes:
    return hashlib.new(algorithm, encoded).digest()
