"""CMS SignedData (RFC 5652) read: one signer over signed attributes, as seals and timestamps have it."""

from dataclasses import dataclass

from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate, load
from paraph.pdf.pki.cms_algorithms import hash_name
from paraph.pdf.pki.cms_errors import CmsRefused, cannot_be_read
from paraph.pdf.pki.der import DerError, Element

_CONTEXT_0 = der.CONTEXT | der.CONSTRUCTED
_CONTEXT_1 = _CONTEXT_0 | 1
_OPTIONAL_FIELDS: tuple[list[int], ...] = ([], [_CONTEXT_0], [_CONTEXT_1], [_CONTEXT_0, _CONTEXT_1])
"""Certificates and revocation lists, either of which may be absent."""
_KEY_IDENTIFIER = der.CONTEXT  # [0] IMPLICIT OCTET STRING
_MAX_CERTIFICATES = 50


@dataclass(frozen=True)
class SignedData:
    """A SignedData with exactly one signer."""

    content_type: str
    content: bytes | None
    """The signed content, where it is inside; ``None`` where it lies elsewhere."""
    certificates: tuple[bytes, ...]
    """DER of every certificate in the message."""
    digest_algorithm: str
    """``sha256``, ``sha384`` or ``sha512``."""
    signature_algorithm: Element
    signature: bytes
    signer: Certificate
    signed_attributes: dict[str, Element]
    """The one value of each signed attribute."""
    to_sign: bytes
    """DER of the signed attributes as they were signed."""
    unsigned_attributes: dict[str, list[Element]]


def read_signed_data(content_info: bytes) -> SignedData:
    """Reads DER of a ContentInfo; zeros after it are allowed. Raises :class:`CmsRefused`."""
    try:
        return _read(content_info)
    except CmsRefused:
        raise
    except (ValueError, IndexError) as error:
        raise cannot_be_read(error) from error


def _read(content_info: bytes) -> SignedData:
    name, explicit = der.read_padded(content_info).children()
    if name.oid() != oids.SIGNED_DATA:
        raise DerError("not SignedData")
    fields = explicit.only(_CONTEXT_0).children()
    content = fields[2].children()
    certificates = _certificates(fields[3:-1])
    signer = fields[-1].only(der.SET).children()
    if signer[3].tag != _CONTEXT_0:
        raise CmsRefused("it signs no attributes, which is not accepted")
    attributes = signer[3]
    _check_frame(fields, signer, content[0].oid())
    return SignedData(
        content_type=content[0].oid(),
        content=content[1].only(_CONTEXT_0).octets() if len(content) > 1 else None,
        certificates=certificates,
        digest_algorithm=hash_name(signer[2]),
        signature_algorithm=signer[4].expect(der.SEQUENCE),
        signature=signer[5].octets(),
        signer=_find_signer(signer[1], certificates),
        signed_attributes={name: _single(values) for name, values in _attributes(attributes).items()},
        to_sign=bytes((der.SET,)) + attributes.raw[1:],
        unsigned_attributes=_attributes(signer[6].expect(_CONTEXT_1)) if len(signer) > 6 else {},
    )


def _check_frame(fields: list[Element], signer: list[Element], content_type: str) -> None:
    """Checks the parts that no signature covers (RFC 5652 §5.1, §5.3), so that a change in them shows."""
    version = fields[0].integer()
    plain = content_type == oids.DATA and signer[0].integer() == 1
    if version not in ({1} if plain else {3, 4, 5}):
        raise DerError(f"version {version}")
    if signer[0].integer() != (3 if signer[1].tag == _KEY_IDENTIFIER else 1):
        raise DerError("a signer of another version")
    if hash_name(signer[2]) not in {hash_name(algorithm) for algorithm in fields[1].children(der.SET)}:
        raise DerError("the signer's hash is not announced")
    if len(fields) > 6 or len(signer) > 7 or [field.tag for field in fields[3:-1]] not in _OPTIONAL_FIELDS:
        raise DerError("a field that does not belong here")


def _certificates(optional: list[Element]) -> tuple[bytes, ...]:
    sets = [field for field in optional if field.tag == _CONTEXT_0]
    found = [item.raw for field in sets for item in field.children(_CONTEXT_0) if item.tag == der.SEQUENCE]
    if len(found) > _MAX_CERTIFICATES:
        raise DerError("too many certificates")
    return tuple(found)


def _find_signer(identifier: Element, certificates: tuple[bytes, ...]) -> Certificate:
    for encoded in certificates:
        certificate = load(encoded)
        if identifier.tag == _KEY_IDENTIFIER:
            if certificate.key_identifier == identifier.content:
                return certificate
        else:
            issuer, serial = identifier.children()
            if certificate.serial == serial.integer() and certificate.issuer == issuer.raw:
                return certificate
    raise DerError("the signer's certificate is not inside")


def _attributes(attributes: Element) -> dict[str, list[Element]]:
    found: dict[str, list[Element]] = {}
    for attribute in attributes.children(attributes.tag):
        name, values = attribute.children()
        found.setdefault(name.oid(), []).extend(values.children(der.SET))
    return found


def _single(values: list[Element]) -> Element:
    if len(values) != 1:
        raise DerError(f"an attribute with {len(values)} values")
    return values[0]
