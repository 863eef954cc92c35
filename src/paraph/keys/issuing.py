"""The certificates of the development authority."""

from collections.abc import Sequence
from datetime import timedelta

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.kernel import clock
from paraph.keys.certificates import PublicKey
from paraph.keys.chains import PROOF_SEALING
from paraph.keys.local_key import PrivateKey

ROOT_NAME = "Paraph Development Root"
SEALING_NAME = "Paraph Development Seal"
PROOF_NAME = "Paraph Development Proof"
SANDBOX_SEALING_NAME = "Paraph Development sandbox Seal"
SANDBOX_PROOF_NAME = "Paraph Development sandbox Proof"
TIMESTAMP_NAME = "Paraph Development Timestamp Authority"

_ROOT_YEARS = 20
_LEAF_YEARS = 10
_USES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
_SIGNING = "digital_signature"
_Extension = tuple[x509.ExtensionType, bool]
_BACKDATED = timedelta(hours=1)  # for readers whose clocks are slow


def issue_root(key: PrivateKey) -> x509.Certificate:
    """Return a self-signed root that may sign end-entity certificates and revocation lists."""
    constraints, usage = x509.BasicConstraints(ca=True, path_length=0), _usage("key_cert_sign", "crl_sign", _SIGNING)
    return _issued(ROOT_NAME, key.public_key(), key, _ROOT_YEARS, [(constraints, True), (usage, True)])


def issue_sealing(root_key: PrivateKey, key: PublicKey, name: str = SEALING_NAME) -> x509.Certificate:
    """Return a sealing certificate: digital signature and content commitment (non-repudiation)."""
    return _leaf(name, root_key, key, (_usage(_SIGNING, "content_commitment"), True))


def issue_proof_sealing(root_key: PrivateKey, key: PublicKey, name: str = PROOF_NAME) -> x509.Certificate:
    """Return a certificate that seals proofs: :data:`PROOF_SEALING`, and e-mail protection, without which programs that
    judge every certificate by the rules of S/MIME would refuse it."""
    purposes = x509.ExtendedKeyUsage([PROOF_SEALING, ExtendedKeyUsageOID.EMAIL_PROTECTION])
    return _leaf(name, root_key, key, (_usage(_SIGNING, "content_commitment"), True), (purposes, False))


def is_of_development(certificate: x509.Certificate) -> bool:
    """Return whether the certificate names a development authority as its issuer. Only its chain proves that."""
    return certificate.issuer == _name(ROOT_NAME)


def issue_timestamp(root_key: PrivateKey, key: PublicKey) -> x509.Certificate:
    """Return a timestamp authority's certificate: timeStamping as its only and critical purpose (RFC 3161 §2.3)."""
    purpose = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
    return _leaf(TIMESTAMP_NAME, root_key, key, (_usage(_SIGNING), True), (purpose, True))


def _leaf(name: str, root_key: PrivateKey, key: PublicKey, *extensions: _Extension) -> x509.Certificate:
    constraints = x509.BasicConstraints(ca=False, path_length=None)
    return _issued(name, key, root_key, _LEAF_YEARS, [(constraints, True), *extensions])


def _issued(
    name: str, key: PublicKey, root_key: PrivateKey, years: int, extensions: Sequence[_Extension]
) -> x509.Certificate:
    """Return a certificate of the root. ``extensions``: each with whether it is critical."""
    start = clock.now() - _BACKDATED
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(ROOT_NAME))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=365 * years))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), critical=False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(root_key, SHA256())


def _name(common: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Paraph (development, not for production)"),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _usage(*uses: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{use: use in uses for use in _USES})
