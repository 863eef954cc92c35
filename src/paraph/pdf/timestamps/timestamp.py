"""RFC 3161 timestamps: tokens, checked in full, and authorities, asked for them in order within one time budget."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from cryptography.x509 import Name

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys.algorithms import weakness_of_key
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import AHEAD, Certificate, Untrusted, check_chain, end_of, load
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
from paraph.pdf.pki.der import DerError, Element, der_of
from paraph.pdf.pki.oids import OF_SEALS
from paraph.pdf.pki.one_form import token_in_one_form
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.verdict import Refused, SubIndication

_CONSTRUCTED = der.CONTEXT | der.CONSTRUCTED
_AUTHORITY, _EXTENSIONS, _DIRECTORY_NAME = _CONSTRUCTED, _CONSTRUCTED | 1, _CONSTRUCTED | 4
_OPTIONAL = {der.SEQUENCE, der.BOOLEAN, der.INTEGER, _AUTHORITY, _EXTENSIONS}
"""Tags of accuracy, ordering, nonce, the authority's name, and extensions."""
_MAX_CLOCK_DIFFERENCE = timedelta(days=1)
_SHORTEST_TRY = 0.05  # seconds
_STATUS = {
    2: "refused",
    3: "is waiting",
    4: "warns that its certificate is about to be revoked",
    5: "had its certificate revoked",
}
_FAILURES = {
    0: "the hash is not accepted",
    2: "the request is not permitted",
    5: "the request has the wrong form",
    14: "its clock is not available",
    15: "the policy is not offered",
    16: "the extension is not offered",
    17: "the additional information is not available",
    25: "it has a fault of its own",
}


class TokenRefused(Refused):
    """The token must not be used; the message is the reason."""


class TokenMismatch(TokenRefused):
    """The token can be read, but the content at hand is not what was stamped."""

    kind: SubIndication = "HASH_FAILURE"


class TokenUnfit(TokenRefused):
    """The token stamps the content at hand, but by an authority or in a way that must not be relied on."""

    kind: SubIndication = "NO_POE"

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
        raise TokenRefused(str(error), error.kind) from error
    except (ValueError, IndexError) as error:
        raise TokenRefused(f"the token cannot be read ({error})", "FORMAT_FAILURE") from error
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
    if weakness := weakness_of_key(token.signer.public_key, token.time):
        return f"its certificate has a weak key: {weakness}"
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


class TimestampAuthority(Protocol):
    """A timestamp authority, which answers a TimeStampReq (DER) with a TimeStampResp (DER)."""

    @property
    def name(self) -> str:
        """The name in messages: the address without credentials, or ``built-in``."""

    def answer(self, request: bytes, timeout: float) -> bytes:
        """Return the response. Raise :class:`AuthorityFailed` where none comes within ``timeout`` seconds."""


class AuthorityFailed(ValueError):
    """An authority gave no answer; the message is the reason."""


@dataclass(frozen=True)
class Timestamp:
    """A verified token."""

    token: bytes
    """DER of the ContentInfo (TimeStampToken), in the one form of :mod:`paraph.pdf.pki.one_form`."""
    time: datetime
    authority: str
    """The name of the issuing authority, from its certificate."""
    policy_oid: str
    url: str
    """The authority that was asked: its address without credentials, or ``built-in``."""
    chain: tuple[bytes, ...] = ()
    """DER from the issuing authority's certificate to its root."""

    @property
    def issuers(self) -> LongTermData:
        """The certificates between the authority's own and its root: the token does not carry them, so they must be
        kept where later signatures or timestamps cover them."""
        return LongTermData(tuple(link for link in self.chain[1:] if not load(link).is_root))

    @property
    def renewal_at(self) -> datetime:
        """When to renew the timestamp: 90 days before its chain ends, or after three quarters of the time
        left if that is less than 360 days."""
        ends = end_of(self.chain)
        return ends - min(timedelta(days=90), max(ends - clock.now(), timedelta(0)) / 4)


@dataclass(frozen=True)
class Timestamping:
    """The authorities to ask for timestamps, and the roots to trust."""

    authorities: Sequence[TimestampAuthority]
    roots: Sequence[bytes]
    """DER of the roots that an authority's certificate must chain to."""
    budget_seconds: float = 10
    """The time for all authorities together; what one leaves is shared by the next ones."""
    last_issuers: list[bytes] = field(default_factory=list)
    """DER of the issuers of the authority that answered last, which a seal states before its timestamp arrives."""
    check_not_revoked: Callable[[tuple[bytes, ...], datetime], None] | None = None
    """A function that raises :class:`~paraph.pdf.pki.revocation.Revoked` for a chain known to be revoked at a time."""

    def preferring(self, name: str) -> "Timestamping":
        """Return a copy that asks the authority of that name first."""
        return replace(self, authorities=sorted(self.authorities, key=lambda authority: authority.name != name))


def stamp_time(digest: bytes, timestamping: Timestamping) -> tuple[Timestamp | None, list[str]]:
    """Return a verified timestamp of ``digest`` (SHA-256, 384 or 512) from the first authority that gives one, and a
    sentence for each authority that failed; ``None`` where all of them failed. Raise nothing."""
    failures: list[str] = []
    end = time.monotonic() + timestamping.budget_seconds
    for position, authority in enumerate(timestamping.authorities):
        share = (end - time.monotonic()) / (len(timestamping.authorities) - position)
        if share < _SHORTEST_TRY:
            failures.append(f"{authority.name} was not asked: the time for timestamps was used up.")
            continue
        try:
            return _request(digest, authority, timestamping, share), failures
        except (AuthorityFailed, TokenRefused, Untrusted, Revoked) as error:
            failures.append(f"{authority.name} gave no usable timestamp: {error}.")
        except DomainError as error:
            failures.append(f"{authority.name} gave no usable timestamp: {error.message.rstrip('.')}.")
    return None, failures


def _request(digest: bytes, authority: TimestampAuthority, timestamping: Timestamping, seconds: float) -> Timestamp:
    nonce = int.from_bytes(tokens.random_bytes(8), "big")
    answer = authority.answer(timestamp_request(digest, nonce), seconds)
    encoded = granted_token(answer)
    hash_name = OF_SEALS[_hash_of(digest)]
    token = check_token(encoded, lambda name: digest if name == hash_name else b"")
    if token.nonce != nonce:
        raise TokenRefused("the token answers another request (nonce)")
    if abs(token.time - clock.now()) > _MAX_CLOCK_DIFFERENCE:
        raise TokenRefused(f"the token states {clock.iso(token.time)}, more than a day away from this machine's clock")
    chain = check_chain(token.signer, token.certificates, timestamping.roots, token.time)
    if timestamping.check_not_revoked is not None:
        timestamping.check_not_revoked(chain, token.time)
    try:
        form = token_in_one_form(encoded)
    except CmsRefused as error:
        raise TokenRefused(str(error)) from error
    stamp = Timestamp(form, token.time, token.authority, token.policy_oid, authority.name, chain)
    timestamping.last_issuers[:] = stamp.issuers.certificates
    return stamp


def timestamp_request(digest: bytes, nonce: int) -> bytes:
    """Encode a TimeStampReq that asks for the certificate in the response (RFC 3161 §2.4.1)."""
    algorithm = der.sequence(der.oid(_hash_of(digest)), der.tlv(der.NULL))
    return der.sequence(
        der.integer(1),
        der.sequence(algorithm, der.octet_string(digest)),
        der.integer(nonce),
        der.tlv(der.BOOLEAN, b"\xff"),
    )


def _hash_of(digest: bytes) -> str:
    """Return the identifier of the hash whose digests have this length. Raise :class:`TokenRefused`."""
    for identifier, name in OF_SEALS.items():
        if hashlib.new(name).digest_size == len(digest):
            return identifier
    raise TokenRefused(f"a digest of {len(digest)} bytes cannot be stamped")


def granted_token(answer: bytes) -> bytes:
    """Return the token (DER) of a TimeStampResp whose status is granted or grantedWithMods (RFC 3161 §2.4.2). Raise
    :class:`TokenRefused` with the authority's reason where it gave none."""
    try:
        fields = der.read(der_of(answer)).children()
        status = fields[0].children()
        code = status[0].integer()
        if code not in {0, 1}:
            raise TokenRefused(_rejection(code, status[1:]))
        if len(fields) < 2:
            raise TokenRefused("the answer is granted but has no token")
        return fields[1].expect(der.SEQUENCE).raw
    except (DerError, IndexError) as error:
        raise TokenRefused("the answer is not one of a timestamp authority") from error


def _rejection(code: int, details: list[der.Element]) -> str:
    reasons = [_STATUS.get(code, f"answered with status {code}")]
    for detail in details:
        if detail.tag == der.BIT_STRING:
            bits = "".join(f"{byte:08b}" for byte in detail.content[1:5])
            reasons += [_FAILURES.get(bit, f"failure {bit}") for bit, value in enumerate(bits) if value == "1"]
        elif detail.tag == der.SEQUENCE:
            texts = (part.content.decode("utf-8", "replace") for part in detail.children())
            reasons += [f'"{text[:200]}"' for text in texts if text.isprintable()]
    return "the authority " + ", ".join(reasons)
