"""The one form in which the service writes a SignedData (RFC 5652): DER, with the lower of the two values that an ECDSA
signature may have, and nothing that it need not hold.

No signature covers how a SignedData is encoded, nor what stands beside its signed attributes. If any form of those
were valid, anybody could make other valid files of a sealed one.
"""

from collections.abc import Iterable

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate, load
from paraph.pdf.pki.cms import CmsRefused, SignedData, hash_name, read_signed_data
from paraph.pdf.pki.der import Element

_EXPLICIT_0, _EXPLICIT_1, _EXPLICIT_2 = 0xA0, 0xA1, 0xA2
_HASHES = {name: identifier for identifier, name in oids.HASHES.items()}
_RSA = {"sha256": oids.RSA_SHA256, "sha384": oids.RSA_SHA384, "sha512": oids.RSA_SHA512}
_ECDSA = {"sha256": oids.ECDSA_SHA256, "sha384": oids.ECDSA_SHA384, "sha512": oids.ECDSA_SHA512}
_WRITTEN = {oids.RSA, oids.EC_PUBLIC_KEY, *_RSA.values(), *_ECDSA.values()}
_NULL = der.tlv(der.NULL)


def in_one_form(signed: SignedData, certificates: Iterable[bytes]) -> bytes:
    """Return the ContentInfo (DER) with these certificates, and with the timestamp token of a seal, in its one form, as
    the only unsigned attribute. Raises :class:`CmsRefused` and :class:`~paraph.pdf.pki.der.DerError`."""
    digest_algorithm = der.sequence(_written(signed.digest_algorithm))
    content = [] if signed.content is None else [der.tlv(_EXPLICIT_0, der.octet_string(signed.content))]
    tokens = signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN, []) if signed.content_type == oids.DATA else []
    unsigned = [der.attribute(oids.TIMESTAMP_TOKEN, token_in_one_form(token.raw)) for token in tokens[:1]]
    signer = der.sequence(
        der.integer(1),
        der.sequence(signed.signer.issuer, der.integer(signed.signer.serial)),
        digest_algorithm,
        bytes((_EXPLICIT_0,)) + signed.to_sign[1:],
        _signature_algorithm(signed),
        der.octet_string(low_signature(signed.signature, signed.signer)),
        *(der.tlv(_EXPLICIT_1, attribute) for attribute in unsigned),
    )
    signed_data = der.sequence(
        der.integer(1 if signed.content_type == oids.DATA else 3),
        der.set_of(digest_algorithm),
        der.sequence(der.oid(signed.content_type), *content),
        der.tlv(_EXPLICIT_0, *sorted(certificates)),
        der.set_of(signer),
    )
    return der.sequence(der.oid(oids.SIGNED_DATA), der.tlv(_EXPLICIT_0, signed_data))


def seal_in_one_form(signed: SignedData) -> bytes:
    """Return the one form of a seal: it carries the certificates that its signed attributes name. Raises as
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
    of the issuers, which it names nowhere, stand in the document security store, which signatures cover. Raises as
    :func:`in_one_form` does."""
    signed = read_signed_data(encoded)
    return in_one_form(signed, [signed.signer.encoded])


def low_signature(signature: bytes, signer: Certificate) -> bytes:
    """Return the signature; of ECDSA's two (r, s) and (r, n - s), which are both valid, that with the lower s."""
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
        return der.sequence(der.oid(identifier), _pss_parameters(parameters[0]))
    if oids.ALGORITHM_PROTECTION not in signed.signed_attributes and identifier in (oids.RSA, oids.EC_PUBLIC_KEY):
        identifier = (_RSA if identifier == oids.RSA else _ECDSA)[signed.digest_algorithm]
    if identifier not in _WRITTEN:
        raise CmsRefused(f"the service does not write the signature algorithm {identifier}")
    is_elliptic = isinstance(signed.signer.public_key, ec.EllipticCurvePublicKey)
    return der.sequence(der.oid(identifier), *([] if is_elliptic else [_NULL]))


def _pss_parameters(parameters: Element) -> bytes:
    """Encode the parameters (RFC 4055 §3.1), which were read before: the hashes with NULL, the salt's length, and no
    trailer."""
    fields = {field.tag: field.only(field.tag) for field in parameters.children()}
    hash_, mask = fields[_EXPLICIT_0], fields[_EXPLICIT_1].children()[1]
    return der.sequence(
        der.tlv(_EXPLICIT_0, _with_null(hash_)),
        der.tlv(_EXPLICIT_1, der.sequence(der.oid(oids.MGF1), _with_null(mask))),
        der.tlv(_EXPLICIT_2, der.integer(fields[_EXPLICIT_2].integer())),
    )


def _with_null(algorithm: Element) -> bytes:
    return der.sequence(_written(hash_name(algorithm)), _NULL)


def _written(hash_: str) -> bytes:
    if hash_ not in _HASHES:
        raise CmsRefused(f"the service does not write the hash {hash_}")
    return der.oid(_HASHES[hash_])
