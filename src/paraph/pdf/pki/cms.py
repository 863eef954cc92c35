"""CMS SignedData (RFC 5652), the form of seals and timestamps: reading it, and checking its one signature over signed
attributes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.x509 import Name

from paraph.kernel import clock, tokens
from paraph.keys.algorithms import OF_FIXED_LENGTH, verify, weakness
from paraph.keys.certificates import is_pss
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate, CertificateError, is_issued_by, readable
from paraph.pdf.pki.der import DerError, Element, der_of, whole_string
from paraph.pdf.pki.oids import HASH_NAMES, HASHES, OF_ECDSA, OF_RSA, SHAKE256_BYTES, SUITED_HASHES
from paraph.pdf.verdict import Refused, SubIndication

_CONTEXT_0 = der.CONTEXT | der.CONSTRUCTED
_CONTEXT_1 = _CONTEXT_0 | 1
_OPTIONAL_FIELDS: tuple[list[int], ...] = ([], [_CONTEXT_0], [_CONTEXT_1], [_CONTEXT_0, _CONTEXT_1])
"""Certificates and revocation lists, either of which may be absent."""
_KEY_IDENTIFIER = der.CONTEXT  # [0] IMPLICIT OCTET STRING
_KEY_IDENTIFIERS = {_KEY_IDENTIFIER, _CONTEXT_0}  # the second in parts
_MAX_CERTIFICATES = 50
_NONE: tuple[list[bytes], ...] = ([], [der.tlv(der.NULL)])
"""Parameters of an algorithm that has none."""
_PSS_HASH, _PSS_MASK, _PSS_SALT, _PSS_TRAILER = (der.CONTEXT | der.CONSTRUCTED | number for number in range(4))
_READ = (oids.CONTENT_TYPE, oids.MESSAGE_DIGEST, oids.SIGNING_TIME, oids.ALGORITHM_PROTECTION, oids.SEAL_PURPOSE)
_NAMING_CERTIFICATES = (oids.SIGNING_CERTIFICATE_V2, oids.SIGNING_CERTIFICATE)
_DIRECTORY_NAME = _CONTEXT_0 | 4
_UTC_TIME = 0x17
_UTC_TIME_ENDS = 2050  # two digits of a year from 50 on mean the century before (RFC 5280 §4.1.2.5.1)


class CmsRefused(Refused):
    """The structure cannot be read or its signature does not hold; the message is the reason."""


class CmsMismatch(CmsRefused):
    """The structure can be read, but the content at hand is not what was signed."""

    kind: SubIndication = "HASH_FAILURE"


class CmsOutdated(CmsRefused):
    """The signature holds, but with a hash so weak that somebody could have made other content for it."""

    kind: SubIndication = "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"


@contextmanager
def _refused_if_unreadable() -> Iterator[None]:
    """Raise :class:`CmsRefused` for what readers raise, with their reason where it is a sentence for people."""
    try:
        yield
    except CmsRefused:
        raise
    except (ValueError, TypeError, IndexError) as error:
        reason = f" ({error})" if isinstance(error, DerError | CertificateError) else ""
        raise CmsRefused(f"the signature cannot be read{reason}", "FORMAT_FAILURE") from error


@dataclass(frozen=True)
class SignedData:
    """A SignedData with exactly one signer."""

    is_plain: bool
    """It is DER with nothing but zeros behind it, of the version that a seal or a token has in this service."""
    content_type: str
    content: bytes | None
    """The signed content, where it is inside; ``None`` where it lies elsewhere."""
    certificates: tuple[bytes, ...]
    """DER of every certificate in the message."""
    digest_algorithm: str
    """The :mod:`hashlib` name of the hash, even an outdated one, which :func:`check_signature` refuses in the end."""
    signature_algorithm: Element
    signature: bytes
    signer: Certificate
    signed_attributes: dict[str, Element]
    """The one value of each signed attribute."""
    to_sign: bytes
    """DER of the signed attributes, in the order in which they stand there."""
    unsigned_attributes: dict[str, list[Element]]

    @property
    def names_certificate(self) -> bool:
        """Whether the signed attributes name the signer's certificate (ESSCertID), as PAdES and RFC 3161 demand."""
        return not self.signed_attributes.keys().isdisjoint(_NAMING_CERTIFICATES)

    @property
    def signing_time(self) -> datetime | None:
        """The time by the signer's clock, which proves nothing (RFC 5652 §11.3); ``None`` where none is stated."""
        stated = self.signed_attributes.get(oids.SIGNING_TIME)
        if stated is None:
            return None
        try:
            if stated.tag != _UTC_TIME:
                return stated.generalized_time()
            moment = datetime.strptime(stated.content.decode("ascii"), "%y%m%d%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            return None
        return moment if moment.year < _UTC_TIME_ENDS else moment.replace(year=moment.year - 100)


@_refused_if_unreadable()
def read_signed_data(content_info: bytes) -> SignedData:
    """Read a ContentInfo (BER, X.690); whatever follows a seal, and zeros after a timestamp token, are passed over.
    Raise :class:`CmsRefused`."""
    encoded = der_of(content_info)
    value = next(der.elements(encoded))
    has_rest = bool(encoded[len(value.raw) :].strip(b"\0"))
    name, explicit = value.children()
    if name.oid() != oids.SIGNED_DATA:
        raise DerError("not SignedData")
    fields = explicit.only(_CONTEXT_0).children()
    content = fields[2].children()
    certificates = _certificates(fields[3:-1])
    signer = fields[-1].only(der.SET).children()
    if signer[3].tag != _CONTEXT_0:
        raise CmsRefused("it signs no attributes, which is not accepted")
    attributes, content_type = signer[3], content[0].oid()
    _check_frame(fields, signer)
    if has_rest and content_type == oids.TST_INFO:
        raise DerError("bytes after the value")
    usual_version = 1 if content_type == oids.DATA else 3
    return SignedData(
        is_plain=encoded == content_info and not has_rest and fields[0].integer() == usual_version,
        content_type=content_type,
        content=content[1].only(_CONTEXT_0).octets() if len(content) > 1 else None,
        certificates=certificates,
        digest_algorithm=digest_name(signer[2]),
        signature_algorithm=signer[4].expect(der.SEQUENCE),
        signature=signer[5].octets(),
        signer=_find_signer(signer[1], certificates),
        signed_attributes=_single_values(_attributes(attributes)),
        to_sign=bytes((der.SET,)) + attributes.raw[1:],
        unsigned_attributes=_attributes(signer[6].expect(_CONTEXT_1)) if len(signer) > 6 else {},
    )


def _check_frame(fields: list[Element], signer: list[Element]) -> None:
    """Check the parts that no signature covers (RFC 5652 §5.1, §5.3). Programs state any version, whatever the message
    holds."""
    version = fields[0].integer()
    if version not in {1, 3, 4, 5}:
        raise DerError(f"version {version}")
    if signer[0].integer() != (3 if signer[1].tag in _KEY_IDENTIFIERS else 1):
        raise DerError("a signer of another version")
    if digest_name(signer[2]) not in {digest_name(algorithm) for algorithm in fields[1].children(der.SET)}:
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
    """Return the certificate that identifies the signer, whose name is compared byte by byte: no signature covers it.
    Certificates that cannot be read do no harm."""
    for certificate in filter(None, map(readable, certificates)):
        if identifier.tag in _KEY_IDENTIFIERS:
            is_whole = identifier.tag == _KEY_IDENTIFIER
            named = identifier.content if is_whole else whole_string(identifier.content, der.OCTET_STRING)
            if certificate.key_identifier == named:
                return certificate
        else:
            issuer, serial = identifier.children()
            if certificate.serial == serial.integer() and certificate.issuer == issuer.raw:
                return certificate
    raise CmsRefused("the signer's certificate is not inside, or cannot be read", "NO_SIGNING_CERTIFICATE_FOUND")


def _attributes(attributes: Element) -> dict[str, list[Element]]:
    found: dict[str, list[Element]] = {}
    for attribute in attributes.children(attributes.tag):
        name, values = attribute.children()
        found.setdefault(name.oid(), []).extend(values.children(der.SET))
    return found


def _single_values(attributes: dict[str, list[Element]]) -> dict[str, Element]:
    """Return the attributes with one value. Only those that nothing here reads may have another number of values."""
    for name, values in attributes.items():
        if len(values) != 1 and name in (*_READ, *_NAMING_CERTIFICATES):
            raise DerError(f"an attribute with {len(values)} values")
    return {name: values[0] for name, values in attributes.items() if len(values) == 1}


@_refused_if_unreadable()
def check_signature(signed: SignedData, content_digest: Callable[[str], bytes]) -> None:
    """Check that the signer's key signed this content.

    ``content_digest`` returns the digest of the signed content for the :mod:`hashlib` name of a hash. Raise
    :class:`CmsMismatch` where the content or the signature was changed, :class:`CmsOutdated` where all holds, but with
    an outdated hash, and :class:`CmsRefused` where another certificate is named or the signature cannot be judged.
    """
    attributes = signed.signed_attributes
    if oids.CONTENT_TYPE not in attributes or oids.MESSAGE_DIGEST not in attributes:
        raise CmsRefused("the signature does not state what it signs")
    if attributes[oids.CONTENT_TYPE].oid() != signed.content_type:
        raise CmsRefused("the signature is over another type of content")
    if not tokens.same(attributes[oids.MESSAGE_DIGEST].octets(), content_digest(signed.digest_algorithm)):
        raise CmsMismatch("the signed content was changed")
    _check_attributes_signed(signed)
    _check_named_certificates(signed)
    if signed.content_type == oids.TST_INFO or oids.SEAL_PURPOSE in attributes:
        _check_issuers(signed.certificates)
    # An attribute that is not known to be added after signing may have been a signed one.
    if not oids.UNSIGNED.issuperset(signed.unsigned_attributes):
        raise CmsRefused("something unknown was added to the signature")
    _check_stated_algorithms(signed)
    algorithm = signed.signature_algorithm.children()[0].oid()
    hash_signed = {**OF_RSA, **OF_ECDSA}.get(algorithm)
    if reason := outdated(signed.digest_algorithm) or outdated(hash_signed or signed.digest_algorithm):
        raise CmsOutdated(reason)


def digest_of(content: bytes) -> Callable[[str], bytes]:
    """Return the ``content_digest`` of :func:`check_signature` for content in memory."""
    return lambda algorithm: oids.digest_of(algorithm, content)


def _check_attributes_signed(signed: SignedData) -> None:
    """Check the signature over the attributes: as they stand, or in the order of DER (RFC 5652 §5.4)."""
    try:
        _check_value(signed, signed.to_sign)
    except CmsMismatch:
        in_order = der.set_of(*(each.raw for each in der.read(signed.to_sign).children(der.SET)))
        if in_order == signed.to_sign:
            raise
        _check_value(signed, in_order)


def _check_named_certificates(signed: SignedData) -> None:
    """Check the first ESSCertIDv2 (RFC 5035) and the first ESSCertID (RFC 2634), each of which names the signer's
    certificate by digest, and may do so by issuer and serial number as well."""
    for attribute in _NAMING_CERTIFICATES:
        if attribute not in signed.signed_attributes:
            continue
        parts = signed.signed_attributes[attribute].children()[0].children()[0].children()
        algorithm = "sha1" if attribute == oids.SIGNING_CERTIFICATE else "sha256"
        if attribute == oids.SIGNING_CERTIFICATE_V2 and parts[0].tag == der.SEQUENCE:
            algorithm = digest_name(parts.pop(0))
        if not tokens.same(parts[0].octets(), signed.signer.digest(algorithm)) or not all(
            _is_of(issuer_serial, signed.signer) for issuer_serial in parts[1:]
        ):
            sentence = "the signature names another certificate than the one it came with"
            raise CmsRefused(sentence, "NO_SIGNING_CERTIFICATE_FOUND")


def _check_issuers(certificates: tuple[bytes, ...]) -> None:
    """Check each certificate against its issuer, where that is in the message too: no signature covers the list. A root
    of the issuer's name whose own signature holds may have another key, as after a renewal."""
    carried = [each for each in map(readable, certificates) if each]
    for child in carried:
        issuers = [each for each in carried if each.subject == child.issuer]
        if not all(each.is_root for each in issuers) and not any(is_issued_by(child, each) for each in issuers):
            raise CmsRefused("a certificate that came along was changed", "FORMAT_FAILURE")


def _is_of(issuer_serial: Element, certificate: Certificate) -> bool:
    """Return whether an IssuerSerial (RFC 5035 §5) names the certificate."""
    names, serial = issuer_serial.children()
    (name,) = names.children()
    issuer = name.only(_DIRECTORY_NAME).raw
    is_issuer = issuer == certificate.issuer or Name.from_bytes(issuer) == certificate.parsed.issuer
    return is_issuer and serial.integer() == certificate.serial


def _check_stated_algorithms(signed: SignedData) -> None:
    """Check CMSAlgorithmProtection (RFC 6211), where it is present."""
    if oids.ALGORITHM_PROTECTION not in signed.signed_attributes:
        return
    stated = signed.signed_attributes[oids.ALGORITHM_PROTECTION].children()
    digest, signature = stated[0].children()[0].oid(), der.read(b"\x30" + stated[1].raw[1:]).children()[0].oid()
    actual = signed.signature_algorithm.children()[0].oid()
    if HASH_NAMES.get(digest) != signed.digest_algorithm or signature != actual:
        raise CmsRefused("the signature was made with other algorithms than it states")


def hash_name(algorithm: Element) -> str:
    """Return the :mod:`hashlib` name of an AlgorithmIdentifier. Raise :class:`CmsRefused` for outdated hashes and
    ``DerError`` for one with parameters."""
    name = digest_name(algorithm)
    if reason := outdated(name):
        raise CmsRefused(reason, CmsOutdated.kind)
    return name


def outdated(hash_: str) -> str:
    """Return why nobody should rely on a hash today, given by its :mod:`hashlib` name; empty where one may."""
    return weakness(hash_, None, clock.now()) or ""


def digest_name(algorithm: Element) -> str:
    """Return the name as :func:`hash_name` does, also for an outdated hash."""
    name, *parameters = algorithm.children()
    identifier = name.oid()
    usual = ([der.integer(SHAKE256_BYTES * 8)],) if identifier == oids.SHAKE256_LEN else _NONE
    if [field.raw for field in parameters] not in usual:
        raise DerError("a hash with parameters")
    if identifier not in HASH_NAMES:
        raise CmsRefused(f"the hash {identifier} is not accepted", "CRYPTO_CONSTRAINTS_FAILURE")
    return HASH_NAMES[identifier]


def _check_value(signed: SignedData, message: bytes) -> None:
    """Check that the signer's key made the signature, with the hash of the digest where the algorithm names none."""
    identifier, hash_, way = _way_of_signing(signed)
    own = signed.signer.parsed
    try:
        is_for_pss_alone = is_pss(own) and not isinstance(way, padding.PSS)
        if is_for_pss_alone or (hash_ is None and own.public_key_algorithm_oid.dotted_string != identifier):
            raise UnsupportedAlgorithm("another kind of key")
        verify(signed.signer.public_key, signed.signature, message, hash_, way)
    except InvalidSignature as error:
        raise CmsMismatch("the signature does not belong to its certificate's key", "SIG_CRYPTO_FAILURE") from error
    except UnsupportedAlgorithm as error:
        reason = f"the signature algorithm {identifier} is not accepted with this key"
        raise CmsRefused(reason, "CRYPTO_CONSTRAINTS_FAILURE") from error


def _way_of_signing(signed: SignedData) -> tuple[str, hashes.HashAlgorithm | None, object]:
    """Return the identifier of the algorithm, its hash (``None`` for one that hashes for itself), and RSA's padding or
    ECDSA. Raise :class:`CmsRefused` for an algorithm that is not known."""
    name, *parameters = signed.signature_algorithm.children()
    identifier, digest = name.oid(), signed.digest_algorithm
    if identifier == oids.RSA_PSS:
        hash_, mask, salt = pss_parameters(parameters[0])
        return identifier, HASHES[hash_], padding.PSS(padding.MGF1(HASHES[mask]), salt)
    if [field.raw for field in parameters] not in _NONE:
        raise CmsRefused("the signature algorithm has parameters")
    if identifier in OF_FIXED_LENGTH:
        own = OF_FIXED_LENGTH[identifier]
        if digest not in SUITED_HASHES[own] and not outdated(digest):
            raise CmsRefused(f"a digest of {digest} is weaker than {own}, which signs it", "CRYPTO_CONSTRAINTS_FAILURE")
        return identifier, None, None
    hash_ = OF_RSA.get(identifier) or OF_ECDSA.get(identifier) or digest
    if (identifier not in OF_RSA and identifier not in OF_ECDSA) or hash_ not in HASHES:
        raise CmsRefused(f"the signature algorithm {identifier} is not known", "CRYPTO_CONSTRAINTS_FAILURE")
    return identifier, HASHES[hash_], padding.PKCS1v15() if identifier in OF_RSA else ec.ECDSA(HASHES[hash_])


def pss_parameters(parameters: Element) -> tuple[str, str, int]:
    """Read RSASSA-PSS-params (RFC 4055 §3.1): the names of hash and mask's hash, and the length of the salt in bytes.
    An absent field stands for SHA-1, which is not accepted. Raise :class:`CmsRefused` and ``DerError``."""
    fields = {field.tag: field.only(field.tag) for field in parameters.children()}
    if not {_PSS_HASH, _PSS_MASK, _PSS_SALT} <= fields.keys():
        raise CmsRefused("the signature uses SHA-1, which is not accepted", CmsOutdated.kind)
    hash_ = hash_name(fields[_PSS_HASH])
    generation, mask_hash = fields[_PSS_MASK].children()
    if generation.oid() != oids.MGF1:
        raise CmsRefused("the signature has a mask that is not known", "CRYPTO_CONSTRAINTS_FAILURE")
    mask = hash_name(mask_hash)
    if not HASHES.keys() >= {hash_, mask}:
        raise CmsRefused("the signature has a hash that RSASSA-PSS does not use here")
    salt, trailer = fields.pop(_PSS_SALT).integer(), fields.pop(_PSS_TRAILER, None)
    if not 0 <= salt <= 512 or (trailer is not None and trailer.integer() != 1) or len(fields) > 2:
        raise CmsRefused("the signature has impossible parameters")
    return hash_, mask, salt
