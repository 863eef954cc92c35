"""RFC 3161 timestamp tokens, read and checked in full, except for trust in the authority."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from paraph.kernel import clock, tokens
from paraph.keys.certificates import weakness_of_key
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import Certificate
from paraph.pdf.pki.cms import CmsRefused, check_signature, digest_of, hash_name, read_signed_data
from paraph.pdf.pki.der import Element

_AHEAD = timedelta(minutes=5)
"""By how much the clock of an authority may be ahead of ours."""


class TokenRefused(ValueError):
    """The token must not be used; the message is the reason."""


class TokenMismatch(TokenRefused):
    """The token can be read, but the content at hand is not what was stamped."""


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

    ``encoded``: DER of the ContentInfo; ``stamped_digest`` returns the digest of the stamped content for the name of a
    hash. Raise :class:`TokenRefused`.
    """
    try:
        signed = read_signed_data(encoded)
        if signed.content_type != oids.TST_INFO or signed.content is None:
            raise TokenRefused("it is not a timestamp token")
        check_signature(signed, digest_of(signed.content))
        if not signed.names_certificate:
            raise TokenRefused("the token does not name its certificate")
        time, policy, nonce = _read_info(der.read(signed.content), stamped_digest)
    except TokenRefused:
        raise
    except CmsRefused as error:
        raise TokenRefused(str(error)) from error
    except (ValueError, IndexError) as error:
        raise TokenRefused(f"the token cannot be read ({error})") from error
    if not signed.signer.for_timestamps_only:
        raise TokenRefused("its certificate is not one for timestamps alone")
    if weakness := weakness_of_key(signed.signer.public_key):
        raise TokenRefused(f"its certificate {weakness}")
    parsed = signed.signer.parsed
    if time > clock.now() + _AHEAD:
        raise TokenRefused(f"it states a time that is still to come, {clock.iso(time)}")
    if not parsed.not_valid_before_utc <= time <= parsed.not_valid_after_utc:
        raise TokenRefused("its certificate was not valid at the time it states")
    return TimestampToken(
        time=time, policy_oid=policy, nonce=nonce, signer=signed.signer, certificates=signed.certificates
    )


def _read_info(info: Element, stamped_digest: Callable[[str], bytes]) -> tuple[datetime, str, int | None]:
    fields = info.children()
    if fields[0].integer() != 1:
        raise TokenRefused("the token is of a version that is not known")
    algorithm, imprint = fields[2].children()
    if not tokens.same(imprint.octets(), stamped_digest(hash_name(algorithm))):
        raise TokenMismatch("it is a timestamp of something else")
    fields[3].integer()
    nonce = next((field.integer() for field in fields[5:] if field.tag == der.INTEGER), None)
    return fields[4].generalized_time(), fields[1].oid(), nonce
