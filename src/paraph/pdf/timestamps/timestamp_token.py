"""RFC 3161 timestamp tokens, read and checked in full, except for trust in the authority."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cryptography.x509 import Name

from paraph.kernel import clock, tokens
from paraph.keys.certificates import weakness_of_key
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.ber import der_of
from paraph.pdf.pki.certificate import Certificate
from paraph.pdf.pki.cms import (
    CmsOutdated,
    CmsRefused,
    SignedData,
    check_signature,
    digest_name,
    digest_of,
    outdated,
    read_signed_data,
)
from paraph.pdf.pki.der import Element
from paraph.pdf.pki.trust import AHEAD

_CONSTRUCTED = der.CONTEXT | der.CONSTRUCTED
_AUTHORITY, _EXTENSIONS, _DIRECTORY_NAME = _CONSTRUCTED, _CONSTRUCTED | 1, _CONSTRUCTED | 4
_OPTIONAL = {der.SEQUENCE, der.BOOLEAN, der.INTEGER, _AUTHORITY, _EXTENSIONS}
"""Tags of accuracy, ordering, nonce, the authority's name, and extensions."""


class TokenRefused(ValueError):
    """The token must not be used; the message is the reason."""


class TokenMismatch(TokenRefused):
    """The token can be read, but the content at hand is not what was stamped."""


class TokenUnfit(TokenRefused):
    """The token is one of the content at hand, but of an authority or in a way that must not be relied on."""

    def __init__(self, reason: str, token: "TimestampToken") -> None:
        super().__init__(reason)
        self.token = token


@dataclass(frozen=True)
class TimestampToken:
    """The content of a genuine token, and its signer."""

    time: datetime
    policy_oid: str
    nonce: int | None
    signer: Certificate
    certificates: tuple[bytes, ...]
    """DER of every certificate inside."""

    @property
    def authority(self) -> str:
        """The name of the issuing authority, from its certificate."""
        return self.signer.name


def check_token(encoded: bytes, stamped_digest: Callable[[str], bytes]) -> TimestampToken:
    """Check everything that the token itself can prove (RFC 3161 §2.4.2): its structure, imprint, signature, the
    certificate it names, that this certificate is for timestamps alone, has a strong key and was valid at the stated
    time, and that this time has come.

    ``encoded``: the ContentInfo (BER); ``stamped_digest`` returns the digest of the stamped content for the name of a
    hash, also of an outdated one. Raise :class:`TokenRefused`.
    """
    try:
        signed = read_signed_data(encoded)
        if signed.content_type != oids.TST_INFO or signed.content is None:
            raise TokenRefused("it is not a timestamp token")
        weakness = _weakness(signed, signed.content)
        if not signed.names_certificate:
            raise TokenRefused("the token does not name its certificate")
        token, hash_ = _read_info(signed, der.read(der_of(signed.content)), stamped_digest)
    except TokenRefused:
        raise
    except CmsRefused as error:
        raise TokenRefused(str(error)) from error
    except (ValueError, IndexError) as error:
        raise TokenRefused(f"the token cannot be read ({error})") from error
    if unfit := weakness or outdated(hash_) or _unfit(token):
        raise TokenUnfit(unfit, token)
    return token


def _weakness(signed: SignedData, content: bytes) -> str:
    """Check the signature, and return why it is too weak, if it is."""
    try:
        check_signature(signed, digest_of(content))
    except CmsOutdated as error:
        return str(error)
    return ""


def _unfit(token: TimestampToken) -> str:
    """Return why the authority must not be relied on, whoever trusts it; empty where it may be."""
    if not token.signer.for_timestamps_only:
        return "its certificate is not one for timestamps alone"
    if weakness := weakness_of_key(token.signer.public_key):
        return f"its certificate {weakness}"
    if token.time > clock.now() + AHEAD:
        return f"it states a time that is still to come, {clock.iso(token.time)}"
    parsed = token.signer.parsed
    if not parsed.not_valid_before_utc <= token.time <= parsed.not_valid_after_utc:
        return "its certificate was not valid at the time it states"
    return ""


def _read_info(signed: SignedData, info: Element, stamped_digest: Callable[[str], bytes]) -> tuple[TimestampToken, str]:
    """Return what the TSTInfo states, and the hash of its imprint."""
    fields = info.children()
    if fields[0].integer() != 1:
        raise TokenRefused("the token is of a version that is not known")
    algorithm, imprint = fields[2].children()
    hash_ = digest_name(algorithm)
    if not tokens.same(imprint.octets(), stamped_digest(hash_)):
        raise TokenMismatch("it is a timestamp of something else")
    fields[3].integer()
    optional = {field.tag: field for field in fields[5:]}
    if len(optional) != len(fields) - 5 or not optional.keys() <= _OPTIONAL:
        raise TokenRefused("the token has a field that does not belong there")
    token = TimestampToken(
        time=fields[4].generalized_time(),
        policy_oid=fields[1].oid(),
        nonce=optional[der.INTEGER].integer() if der.INTEGER in optional else None,
        signer=signed.signer,
        certificates=signed.certificates,
    )
    if _AUTHORITY in optional and not _names(optional[_AUTHORITY].only(_AUTHORITY), signed.signer):
        raise TokenUnfit("the token names another authority than its certificate", token)
    if _EXTENSIONS in optional and any(map(_is_critical, optional[_EXTENSIONS].children(_EXTENSIONS))):
        raise TokenUnfit("the token has a critical extension that is not known", token)
    return token, hash_


def _names(general_name: Element, certificate: Certificate) -> bool:
    """Return whether a GeneralName is one of the certificate's names (RFC 3161 §2.4.2)."""
    alternative = certificate.alternative_names
    if general_name.tag != _DIRECTORY_NAME:
        return general_name.raw in alternative
    named = general_name.only(_DIRECTORY_NAME).raw
    return (
        named == certificate.subject
        or general_name.raw in alternative
        or Name.from_bytes(named) == certificate.parsed.subject
    )


def _is_critical(extension: Element) -> bool:
    fields = extension.children()
    return fields[1].tag == der.BOOLEAN and any(fields[1].content)
