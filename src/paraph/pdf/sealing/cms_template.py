"""The CMS of a PAdES seal (RFC 5652 §5, ETSI EN 319 142-1 §6).

There is no signing-time attribute: PAdES states the time in the signature dictionary and the timestamp.
"""

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from paraph.keys import SigningKey
from paraph.keys.certificates import is_pss, misconfigured
from paraph.keys.signing_key import ECDSA_SHA256, RSA_PSS_SHA256, RSA_SHA256
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate, load, without_root
from paraph.pdf.pki.cms import CmsRefused, pss_parameters
from paraph.pdf.pki.der import DerError
from paraph.pdf.pki.one_form import ECDSA_WITH_SHA256, RSA_WITH_SHA256, pss_algorithm, signed_data
from paraph.pdf.pki.purpose import Purpose

_DIRECTORY_NAME = 0xA4
_SALT = 32  # bytes
_ALGORITHMS = {
    RSA_SHA256: RSA_WITH_SHA256,
    RSA_PSS_SHA256: pss_algorithm("sha256", "sha256", _SALT),
    ECDSA_SHA256: ECDSA_WITH_SHA256,
}


class CmsTemplate:
    """What the seals of one key have in common."""

    def __init__(self, key: SigningKey) -> None:
        """Raise ``DomainError("configuration", …)`` for a certificate that restricts RSASSA-PSS to other parameters
        than ours, or has a key of another kind than those that seal."""
        self._certificate = certificate = load(key.certificate)
        if is_pss(certificate.parsed) and not _allows_our_pss(certificate.key_parameters):
            wanted = "SHA-256, MGF1 with SHA-256 and a salt of 32 bytes"
            raise misconfigured(f'The certificate "{certificate.name}" does not allow RSASSA-PSS with {wanted}.')
        self._algorithm = _ALGORITHMS[key.algorithm]
        self._sent = without_root(key.certificate, key.chain)
        self._longest_signature = _longest_signature(certificate)

    def signed_attributes(self, digest: bytes, purpose: Purpose) -> bytes:
        """Encode what the key signs (RFC 5652 §5.4): the content type, all certificates that are sent along, so that
        nobody can exchange one, the digest, SHA-256 of the byte range, and the purpose."""
        identifiers = [_identifier(load(encoded)) for encoded in self._sent]
        return der.set_of(
            der.attribute(oids.CONTENT_TYPE, der.oid(oids.DATA)),
            der.attribute(oids.SIGNING_CERTIFICATE_V2, der.sequence(der.sequence(*identifiers))),
            der.attribute(oids.MESSAGE_DIGEST, der.octet_string(digest)),
            purpose.attribute,
        )

    def assemble(self, signed_attributes: bytes, signature: bytes, token: bytes = b"") -> bytes:
        """Encode the ContentInfo. ``token``: a TimeStampToken (DER) over ``signature``, empty for none."""
        certificates, algorithm = self._sent, self._algorithm
        return signed_data(
            self._certificate, signed_attributes, algorithm, signature, certificates=certificates, token=token
        )

    def size(self, purpose: Purpose, token_size: int = 0) -> int:
        """Return the most bytes that :meth:`assemble` can return with a token of at most ``token_size`` bytes."""
        signature = bytes(self._longest_signature)
        return len(self.assemble(self.signed_attributes(bytes(32), purpose), signature, bytes(token_size)))


def _allows_our_pss(restrictions: bytes) -> bool:
    """Return whether a key for RSASSA-PSS alone may sign with our parameters: of the salt it names the least length
    (RFC 4055 §3.3)."""
    try:
        digest, mask, salt = pss_parameters(der.read(restrictions)) if restrictions else ("sha256", "sha256", 0)
    except (CmsRefused, DerError):
        return False
    return (digest, mask) == ("sha256", "sha256") and salt <= _SALT


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
    raise misconfigured(f'The key of "{certificate.name}" is one with which nothing is sealed.')
