"""The one form in which the service writes a SignedData (RFC 5652): DER, with the lower of the two values that an ECDSA
signature may have, and nothing that it need not hold.

No signature covers how a SignedData is encoded, nor what stands beside its signed attributes. If every form were
valid, anybody could make other valid files from a sealed one.
"""

from collections.abc import Iterable

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from paraph.keys import SigningKey
from paraph.keys.certificates import is_pss, misconfigured
from paraph.keys.signing_key import ECDSA_SHA256, RSA_PSS_SHA256, RSA_SHA256
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate, load, without_root
from paraph.pdf.pki.cms import CmsRefused, SignedData, pss_parameters, read_signed_data
from paraph.pdf.pki.der import DerError
from paraph.pdf.pki.oids import OF_ECDSA, OF_RSA, OF_SEALS
from paraph.pdf.pki.purpose import Purpose

_EXPLICIT_0, _EXPLICIT_1, _EXPLICIT_2 = 0xA0, 0xA1, 0xA2
_HASHES = {name: identifier for identifier, name in OF_SEALS.items()}
_RSA = {name: identifier for identifier, name in OF_RSA.items() if name in _HASHES}
_ECDSA = {name: identifier for identifier, name in OF_ECDSA.items() if name in _HASHES}
_WRITTEN = {oids.RSA, oids.EC_PUBLIC_KEY, *_RSA.values(), *_ECDSA.values()}
_NULL = der.tlv(der.NULL)
RSA_WITH_SHA256 = der.sequence(der.oid(oids.RSA_SHA256), _NULL)
ECDSA_WITH_SHA256 = der.sequence(der.oid(oids.ECDSA_SHA256))


def signed_data(
    signer: Certificate,
    attributes: bytes,
    algorithm: bytes,
    signature: bytes,
    *,
    certificates: Iterable[bytes] | None,
    digest_algorithm: str = oids.SHA256,
    content_type: str = oids.DATA,
    content: bytes | None = None,
    token: bytes = b"",
) -> bytes:
    """Return a ContentInfo (DER). ``attributes``: DER of the signed ones; ``algorithm``: DER of the signature
    algorithm; ``certificates``: DER of those to send along, ``None`` for no list; ``digest_algorithm`` and
    ``content_type``: identifiers; ``token``: a TimeStampToken (DER), the only unsigned attribute, empty for none."""
    digest = der.sequence(der.oid(digest_algorithm))
    signer_info = der.sequence(
        der.integer(1),
        der.sequence(signer.issuer, der.integer(signer.serial)),
        digest,
        bytes((_EXPLICIT_0,)) + attributes[1:],
        algorithm,
        der.octet_string(signature),
        der.tlv(_EXPLICIT_1, der.attribute(oids.TIMESTAMP_TOKEN, token)) if token else b"",
    )
    message = der.sequence(
        der.integer(1 if content_type == oids.DATA else 3),
        der.set_of(digest),
        der.sequence(
            der.oid(content_type), b"" if content is None else der.tlv(_EXPLICIT_0, der.octet_string(content))
        ),
        b"" if certificates is None else der.tlv(_EXPLICIT_0, *sorted(certificates)),
        der.set_of(signer_info),
    )
    return der.sequence(der.oid(oids.SIGNED_DATA), der.tlv(_EXPLICIT_0, message))


def in_one_form(signed: SignedData, certificates: Iterable[bytes]) -> bytes:
    """Return the ContentInfo (DER) with these certificates, and with the timestamp token of a seal, in its one form, as
    the only unsigned attribute. Raise :class:`CmsRefused` and :class:`~paraph.pdf.pki.der.DerError`."""
    digest_algorithm = _hash_identifier(signed.digest_algorithm)
    tokens = signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN, []) if signed.content_type == oids.DATA else []
    token = token_in_one_form(tokens[0].raw) if tokens else b""
    return signed_data(
        signed.signer,
        signed.to_sign,
        _signature_algorithm(signed),
        low_signature(signed.signature, signed.signer),
        certificates=certificates,
        digest_algorithm=digest_algorithm,
        content_type=signed.content_type,
        content=signed.content,
        token=token,
    )


def seal_in_one_form(signed: SignedData) -> bytes:
    """Return the one form of a seal: it carries the certificates that its signed attributes name. Raise as
    :func:`in_one_form` does."""
    if oids.SIGNING_CERTIFICATE_V2 not in signed.signed_attributes:
        raise CmsRefused("it does not name its certificates")
    named = signed.signed_attributes[oids.SIGNING_CERTIFICATE_V2].children()[0].children()
    digests = {each.children()[0].octets() for each in named}  # of SHA-256, which is not stated
    carried = {load(encoded).digest("sha256"): encoded for encoded in signed.certificates}
    if carried.keys() != digests:
        raise CmsRefused("it carries other certificates than it names")
    return in_one_form(signed, carried.values())


def token_in_one_form(encoded: bytes) -> bytes:
    """Return the one form of a timestamp token: it carries the authority's own certificate alone, which it names. Those
    of the issuers, which it names nowhere, stand in the document security store, which signatures cover. Raise as
    :func:`in_one_form` does."""
    signed = read_signed_data(encoded)
    return in_one_form(signed, [signed.signer.encoded])


def low_signature(signature: bytes, signer: Certificate) -> bytes:
    """Return the signature; for ECDSA, where (r, s) and (r, n - s) are both valid, the one with the lower s."""
    key = signer.public_key
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return signature
    r, s = decode_dss_signature(signature)
    return encode_dss_signature(r, min(s, key.curve.group_order - s))


def _signature_algorithm(signed: SignedData) -> bytes:
    """Encode the algorithm, with its hash unless a signed attribute states it without (RFC 6211)."""
    name, *parameters = signed.signature_algorithm.children()
    identifier = name.oid()
    if identifier == oids.RSA_PSS:
        return pss_algorithm(*pss_parameters(parameters[0]))
    if oids.ALGORITHM_PROTECTION not in signed.signed_attributes and identifier in (oids.RSA, oids.EC_PUBLIC_KEY):
        identifier = (_RSA if identifier == oids.RSA else _ECDSA)[signed.digest_algorithm]
    if identifier not in _WRITTEN:
        raise CmsRefused(f"the service does not write the signature algorithm {identifier}")
    is_elliptic = isinstance(signed.signer.public_key, ec.EllipticCurvePublicKey)
    return der.sequence(der.oid(identifier), *([] if is_elliptic else [_NULL]))


def pss_algorithm(hash_: str, mask: str, salt: int) -> bytes:
    """Encode RSASSA-PSS with its parameters (RFC 4055 §3.1): the hashes with NULL, the salt's length in bytes, and no
    trailer."""
    hashed, masked = (der.sequence(der.oid(_hash_identifier(name)), _NULL) for name in (hash_, mask))
    parameters = der.sequence(
        der.tlv(_EXPLICIT_0, hashed),
        der.tlv(_EXPLICIT_1, der.sequence(der.oid(oids.MGF1), masked)),
        der.tlv(_EXPLICIT_2, der.integer(salt)),
    )
    return der.sequence(der.oid(oids.RSA_PSS), parameters)


def _hash_identifier(hash_: str) -> str:
    if hash_ not in _HASHES:
        raise CmsRefused(f"the service does not write the hash {hash_}")
    return _HASHES[hash_]


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
        than ours, or whose key is of a kind that does not seal."""
        self._certificate = certificate = load(key.certificate)
        if is_pss(certificate.parsed) and not _allows_our_pss(certificate.key_parameters):
            wanted = "SHA-256, MGF1 with SHA-256 and a salt of 32 bytes"
            raise misconfigured(f'The certificate "{certificate.name}" does not allow RSASSA-PSS with {wanted}.')
        self._algorithm = _ALGORITHMS[key.algorithm]
        self._sent = without_root(key.certificate, key.chain)
        self._longest_signature = _longest_signature(certificate)

    def signed_attributes(self, digest: bytes, purpose: Purpose) -> bytes:
        """Encode what the key signs (RFC 5652 §5.4): the content type, all certificates that are sent along (so that
        nobody can exchange one), the digest (SHA-256 of the byte range), and the purpose."""
        identifiers = [_certificate_identifier(load(encoded)) for encoded in self._sent]
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
    """Return whether a key for RSASSA-PSS alone may sign with our parameters; the salt that it names is the shortest
    that it allows (RFC 4055 §3.3)."""
    try:
        digest, mask, salt = pss_parameters(der.read(restrictions)) if restrictions else ("sha256", "sha256", 0)
    except (CmsRefused, DerError):
        return False
    return (digest, mask) == ("sha256", "sha256") and salt <= _SALT


def _certificate_identifier(certificate: Certificate) -> bytes:
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
