"""The algorithms of CMS: which hashes are accepted, and whether a signature value belongs to a key."""

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from paraph.pdf.pki import der, oids
from paraph.pdf.pki.cms_errors import CmsMismatch, CmsRefused
from paraph.pdf.pki.der import DerError, Element

_OLD_HASHES = {oids.SHA1: "SHA-1", oids.MD5: "MD5", oids.SHA224: "SHA-224"}
_OLD_SIGNATURES = {
    oids.RSA_MD5: "MD5",
    oids.RSA_SHA1: "SHA-1",
    oids.RSA_SHA224: "SHA-224",
    oids.ECDSA_SHA1: "SHA-1",
    oids.ECDSA_SHA224: "SHA-224",
}
_NULL = der.tlv(der.NULL)
_HASH_OF_RSA = {oids.RSA_SHA256: "sha256", oids.RSA_SHA384: "sha384", oids.RSA_SHA512: "sha512"}
_HASH_OF_ECDSA = {oids.ECDSA_SHA256: "sha256", oids.ECDSA_SHA384: "sha384", oids.ECDSA_SHA512: "sha512"}
_HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
}
_PSS_HASH, _PSS_MASK, _PSS_SALT, _PSS_TRAILER = (der.CONTEXT | der.CONSTRUCTED | number for number in range(4))


def hash_name(algorithm: Element) -> str:
    """Returns the :mod:`hashlib` name of an AlgorithmIdentifier. Raises :class:`CmsRefused` for outdated hashes and
    ``DerError`` for one with parameters."""
    name, *parameters = algorithm.children()
    identifier = name.oid()
    if [field.raw for field in parameters] not in ([], [_NULL]):
        raise DerError("a hash with parameters")
    if identifier not in oids.HASHES:
        raise CmsRefused(f"the hash {_OLD_HASHES.get(identifier, identifier)} is not accepted")
    return oids.HASHES[identifier]


def check_value(
    signature: bytes, message: bytes, key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey, algorithm: Element, digest: str
) -> None:
    """Checks that the owner of ``key`` signed ``message``.

    ``algorithm``: the AlgorithmIdentifier of the signature; ``digest``: the hash to use where the algorithm names none.
    Raises :class:`CmsRefused`.
    """
    name, *parameters = algorithm.children()
    identifier = name.oid()
    try:
        if identifier in _OLD_SIGNATURES:
            raise CmsRefused(f"the hash {_OLD_SIGNATURES[identifier]} is not accepted")
        if identifier != oids.RSA_PSS and [field.raw for field in parameters] not in ([], [_NULL]):
            raise CmsRefused("the signature algorithm has parameters")
        if isinstance(key, rsa.RSAPublicKey) and identifier == oids.RSA_PSS:
            scheme, hash_ = _pss(parameters[0])
            key.verify(signature, message, scheme, hash_)
        elif isinstance(key, rsa.RSAPublicKey) and (identifier == oids.RSA or identifier in _HASH_OF_RSA):
            hash_ = _HASHES[_HASH_OF_RSA.get(identifier, digest)]
            key.verify(signature, message, padding.PKCS1v15(), hash_)
        elif isinstance(key, ec.EllipticCurvePublicKey) and (
            identifier == oids.EC_PUBLIC_KEY or identifier in _HASH_OF_ECDSA
        ):
            hash_ = _HASHES[_HASH_OF_ECDSA.get(identifier, digest)]
            key.verify(signature, message, ec.ECDSA(hash_))
        else:
            raise CmsRefused(f"the signature algorithm {identifier} is not accepted with this key")
    except InvalidSignature as error:
        raise CmsMismatch("the signature does not belong to its certificate's key") from error
    except UnsupportedAlgorithm as error:
        raise CmsRefused("the signature was made in a way that is not known") from error


def _pss(parameters: Element) -> tuple[padding.PSS, hashes.HashAlgorithm]:
    """Reads RSASSA-PSS-params (RFC 4055 §3.1). An absent field stands for SHA-1, which is not accepted."""
    fields = {field.tag: field.only(field.tag) for field in parameters.children()}
    if not {_PSS_HASH, _PSS_MASK, _PSS_SALT} <= fields.keys():
        raise CmsRefused("the signature uses SHA-1, which is not accepted")
    hash_ = _HASHES[hash_name(fields[_PSS_HASH])]
    generation, mask_hash = fields[_PSS_MASK].children()
    if generation.oid() != oids.MGF1:
        raise CmsRefused("the signature has a mask that is not known")
    mask = _HASHES[hash_name(mask_hash)]
    salt, trailer = fields.pop(_PSS_SALT).integer(), fields.pop(_PSS_TRAILER, None)
    if not 0 <= salt <= 512 or (trailer is not None and trailer.integer() != 1) or len(fields) > 2:
        raise CmsRefused("the signature has impossible parameters")
    return padding.PSS(padding.MGF1(mask), salt), hash_
