"""The check of a CMS signature: over this content, by the certificate that it names, with the algorithms it states."""

import hashlib
from collections.abc import Callable

from paraph.kernel import tokens
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import is_issued_by, load
from paraph.pdf.pki.cms import SignedData
from paraph.pdf.pki.cms_algorithms import check_value, hash_name
from paraph.pdf.pki.cms_errors import CmsMismatch, CmsRefused, cannot_be_read


def check_signature(signed: SignedData, content_digest: Callable[[str], bytes]) -> None:
    """Checks that the signer's key signed this content.

    ``content_digest`` returns the digest of the signed content for the :mod:`hashlib` name of a hash. Raises
    :class:`CmsRefused` where the content changed, the signature does not hold, or the signed attributes name another
    certificate.
    """
    try:
        attributes = signed.signed_attributes
        if oids.CONTENT_TYPE not in attributes or oids.MESSAGE_DIGEST not in attributes:
            raise CmsRefused("the signature does not state what it signs")
        if attributes[oids.CONTENT_TYPE].oid() != signed.content_type:
            raise CmsRefused("the signature is over another type of content")
        if not tokens.same(attributes[oids.MESSAGE_DIGEST].octets(), content_digest(signed.digest_algorithm)):
            raise CmsMismatch("the signed content was changed")
        _check_named_certificate(signed)
        _check_issuers(signed.certificates)
        _check_unsigned_attributes(signed)
        _check_stated_algorithms(signed)
        check_value(
            signed.signature,
            signed.to_sign,
            signed.signer.public_key,
            signed.signature_algorithm,
            signed.digest_algorithm,
        )
    except CmsRefused:
        raise
    except (ValueError, TypeError, IndexError) as error:
        raise cannot_be_read(error) from error


def names_certificate(signed: SignedData) -> bool:
    """Whether the signed attributes name the signer's certificate (ESSCertID), as PAdES and RFC 3161 demand."""
    return not signed.signed_attributes.keys().isdisjoint({oids.SIGNING_CERTIFICATE, oids.SIGNING_CERTIFICATE_V2})


def digest_of(content: bytes) -> Callable[[str], bytes]:
    """Returns the ``content_digest`` of :func:`check_signature` for content in memory."""
    return lambda algorithm: hashlib.new(algorithm, content).digest()


def _check_named_certificate(signed: SignedData) -> None:
    """Checks the first ESSCertIDv2 (RFC 5035) or ESSCertID (RFC 2634), the digest of the signer's certificate."""
    attributes = signed.signed_attributes
    if oids.SIGNING_CERTIFICATE_V2 in attributes:
        named = attributes[oids.SIGNING_CERTIFICATE_V2].children()[0].children()[0].children()
        explicit = named[0].tag == der.SEQUENCE
        algorithm = hash_name(named[0]) if explicit else "sha256"
        digest = named[1 if explicit else 0].octets()
    elif oids.SIGNING_CERTIFICATE in attributes:
        digest = attributes[oids.SIGNING_CERTIFICATE].children()[0].children()[0].children()[0].octets()
        algorithm = "sha1"
    else:
        return
    if not tokens.same(digest, signed.signer.digest(algorithm)):
        raise CmsRefused("the signature names another certificate than the one it came with")


def _check_issuers(certificates: tuple[bytes, ...]) -> None:
    """Checks each certificate against its issuer, where that is in the message too: no signature covers the list."""
    carried = [load(encoded) for encoded in certificates]
    for child in carried:
        issuers = [issuer for issuer in carried if issuer.subject == child.issuer]
        if issuers and not any(is_issued_by(child, issuer) for issuer in issuers):
            raise CmsRefused("a certificate that came along was changed")


def _check_unsigned_attributes(signed: SignedData) -> None:
    """Refuses an attribute that is not known to be added after signing: it may have been a signed one."""
    if not oids.UNSIGNED.issuperset(signed.unsigned_attributes):
        raise CmsRefused("something unknown was added to the signature")


def _check_stated_algorithms(signed: SignedData) -> None:
    """Checks CMSAlgorithmProtection (RFC 6211), where it is present."""
    protection = signed.signed_attributes.get(oids.ALGORITHM_PROTECTION)
    if protection is None:
        return
    stated = protection.children()
    digest, signature = stated[0].children()[0].oid(), der.read(b"\x30" + stated[1].raw[1:]).children()[0].oid()
    actual = signed.signature_algorithm.children()[0].oid()
    if oids.HASHES.get(digest) != signed.digest_algorithm or signature != actual:
        raise CmsRefused("the signature was made with other algorithms than it states")
