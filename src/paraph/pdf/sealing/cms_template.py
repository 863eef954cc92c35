"""The CMS of a PAdES seal (RFC 5652 §5, ETSI EN 319 142-1 §6).

All seals of a certificate have all but the digest, the purpose, the signature and the timestamp in common. There is no
signing-time attribute: PAdES states the time in the signature dictionary and the timestamp.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from paraph.kernel.errors import DomainError
from paraph.keys import SigningKey
from paraph.keys.certificates import is_pss
from paraph.keys.signing_key import ECDSA_SHA256, RSA_PSS_SHA256, RSA_SHA256
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate, load, without_root
from paraph.pdf.pki.cms import CmsRefused, pss_parameters
from paraph.pdf.pki.der import DerError
from paraph.pdf.pki.purpose import Purpose

_EXPLICIT_0, _EXPLICIT_1, _EXPLICIT_2, _DIRECTORY_NAME = 0xA0, 0xA1, 0xA2, 0xA4
_DIGEST_ALGORITHM = der.sequence(der.oid(oids.SHA256))
_SALT = 32  # bytes
_PSS_HASH = der.sequence(der.oid(oids.SHA256), der.tlv(der.NULL))  # RFC 4055 §2.1
_PSS_PARAMETERS = der.sequence(
    der.tlv(_EXPLICIT_0, _PSS_HASH),
    der.tlv(_EXPLICIT_1, der.sequence(der.oid(oids.MGF1), _PSS_HASH)),
    der.tlv(_EXPLICIT_2, der.integer(_SALT)),
)
_SIGNATURE_ALGORITHMS = {
    RSA_SHA256: der.sequence(der.oid(oids.RSA_SHA256), der.tlv(der.NULL)),
    RSA_PSS_SHA256: der.sequence(der.oid(oids.RSA_PSS), _PSS_PARAMETERS),
    ECDSA_SHA256: der.sequence(der.oid(oids.ECDSA_SHA256)),
}


@dataclass(frozen=True)
class CmsTemplate:
    """The common parts of one certificate's seals, as DER."""

    common_attributes: tuple[bytes, ...]
    """The signed attributes that are equal in all seals."""
    before_signer: bytes
    """Of SignedData: version, digest algorithms, content type, certificates."""
    signer: bytes
    """Of SignerInfo: version, issuer and serial number, digest algorithm."""
    signature_algorithm: bytes
    longest_signature: int
    """In bytes."""

    def signed_attributes(self, digest: bytes, purpose: Purpose) -> bytes:
        """Encode what the key signs (RFC 5652 §5.4). ``digest``: SHA-256 of the byte range."""
        message_digest = der.attribute(oids.MESSAGE_DIGEST, der.octet_string(digest))
        return der.set_of(*self.common_attributes, message_digest, purpose.attribute)

    def assemble(self, signed_attributes: bytes, signature: bytes, token: bytes = b"") -> bytes:
        """Encode the ContentInfo. ``token``: a TimeStampToken (DER) over ``signature``, empty for none."""
        unsigned = [der.tlv(_EXPLICIT_1, der.attribute(oids.TIMESTAMP_TOKEN, token))] if token else []
        signer = der.sequence(
            self.signer,
            bytes((_EXPLICIT_0,)) + signed_attributes[1:],
            self.signature_algorithm,
            der.octet_string(signature),
            *unsigned,
        )
        signed_data = der.sequence(self.before_signer, der.tlv(der.SET, signer))
        return der.sequence(der.oid(oids.SIGNED_DATA), der.tlv(_EXPLICIT_0, signed_data))

    def size(self, purpose: Purpose, token_size: int = 0) -> int:
        """Return the most bytes that :meth:`assemble` can return with a token of at most ``token_size`` bytes."""
        signature = bytes(self.longest_signature)
        return len(self.assemble(self.signed_attributes(bytes(32), purpose), signature, bytes(token_size)))


def template(key: SigningKey) -> CmsTemplate:
    """Return the template of the key's certificate. Raise ``DomainError("configuration", …)`` for a certificate that
    restricts RSASSA-PSS to other parameters than ours, or has a key of another kind than those that seal."""
    certificate = load(key.certificate)
    if is_pss(certificate.parsed) and not _allows_our_pss(certificate.key_parameters):
        wanted = "SHA-256, MGF1 with SHA-256 and a salt of 32 bytes"
        raise DomainError(
            "configuration", f'The certificate "{certificate.name}" does not allow RSASSA-PSS with {wanted}.'
        )
    serial, sent = der.integer(certificate.serial), without_root(key.certificate, key.chain)
    return CmsTemplate(
        common_attributes=_common_attributes(sent),
        before_signer=b"".join(
            (
                der.integer(1),
                der.set_of(_DIGEST_ALGORITHM),
                der.sequence(der.oid(oids.DATA)),
                der.tlv(_EXPLICIT_0, *sorted(sent)),
            )
        ),
        signer=der.integer(1) + der.sequence(certificate.issuer, serial) + _DIGEST_ALGORITHM,
        signature_algorithm=_SIGNATURE_ALGORITHMS[key.algorithm],
        longest_signature=_longest_signature(certificate),
    )


def _allows_our_pss(restrictions: bytes) -> bool:
    """Return whether a key for RSASSA-PSS alone may sign with our parameters: of the salt it names the least length
    (RFC 4055 §3.3)."""
    try:
        digest, mask, salt = pss_parameters(der.read(restrictions)) if restrictions else ("sha256", "sha256", 0)
    except (CmsRefused, DerError):
        return False
    return (digest, mask) == ("sha256", "sha256") and salt <= _SALT


def _common_attributes(sent: Sequence[bytes]) -> tuple[bytes, ...]:
    """Encode the content type and all certificates that are sent along, so that nobody can exchange one."""
    identifiers = [_identifier(load(encoded)) for encoded in sent]
    return (
        der.attribute(oids.CONTENT_TYPE, der.oid(oids.DATA)),
        der.attribute(oids.SIGNING_CERTIFICATE_V2, der.sequence(der.sequence(*identifiers))),
    )


def _identifier(certificate: Certificate) -> bytes:
    """Encode an ESSCertIDv2. SHA-256, the default, must be absent (RFC 5035 §4)."""
    serial = der.integer(certificate.serial)
    issuer_serial = der.sequence(der.sequence(der.tlv(_DIRECTORY_NAME, certificate.issuer)), serial)
    return der.sequence(der.octet_string(certificate.digest("sha256")), issuer_serial)


def _longest_signature(certificate: Certificate) -> int:
    key = certificate.public_key
    if isinstance(key, ec.EllipticCurvePublicKey):
        return 2 * ((key.key_size + 7) // 8 + 3) + 4
    if isinstance(key, rsa.RSAPublicKey):
        return key.key_size // 8
    raise DomainError("configuration", f'The key of "{certificate.name}" is one with which nothing is sealed.')
