"""Timestamps from RFC 3161 authorities, tried in order inside one time budget, each token verified before use."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.der import DerError
from paraph.pdf.pki.revocation_data import Revoked
from paraph.pdf.pki.trust import Untrusted, check_chain
from paraph.pdf.timestamps.timestamp_token import TimestampToken, TokenRefused, check_token

_CLOCKS_APART = timedelta(days=1)
_SHORTEST_TRY = 0.05
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


class TimestampAuthority(Protocol):
    """Somebody who answers DER of a TimeStampReq with DER of a TimeStampResp."""

    @property
    def name(self) -> str:
        """How messages call it: its address without credentials, or ``built-in``."""

    def answer(self, request: bytes, timeout: float) -> bytes:
        """Raises :class:`AuthorityFailed` when no answer comes within ``timeout`` seconds."""


class AuthorityFailed(ValueError):
    """An authority gave no answer; the message is the reason."""


@dataclass(frozen=True)
class Timestamp:
    """A verified token."""

    token: bytes
    """DER of the ContentInfo (TimeStampToken)."""
    time: datetime
    authority: str
    """The name of the issuing authority, from its certificate."""
    policy_oid: str
    url: str
    """The authority that was asked: its address without credentials, or ``built-in``."""
    chain: tuple[bytes, ...] = ()
    """DER from the issuing authority's certificate to its root."""


@dataclass(frozen=True)
class Timestamping:
    """Whom to ask for timestamps, and whose answers to believe."""

    authorities: Sequence[TimestampAuthority]
    roots: Sequence[bytes]
    """DER of the roots that an authority's certificate must chain to."""
    budget_seconds: float = 10
    """For all authorities together; what one leaves is shared by those after it."""
    policy_oid: str = ""
    """The policy to ask for and insist on; empty: the authority's choice."""
    refuse: Callable[[tuple[bytes, ...], datetime], None] | None = None
    """Raises :class:`~paraph.pdf.pki.revocation_data.Revoked` for a chain that was revoked at a moment, where that is
    known."""

    def preferring(self, name: str) -> "Timestamping":
        """The same, with the authority of that name asked first."""
        return replace(self, authorities=sorted(self.authorities, key=lambda authority: authority.name != name))


def stamp_time(digest: bytes, timestamping: Timestamping) -> tuple[Timestamp | None, list[str]]:
    """A verified timestamp of ``digest`` (SHA-256, 384 or 512) from the first authority that gives one.

    Also a sentence for each authority that did not; with ``None`` where all of them failed. Raises nothing.
    """
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
    answer = authority.answer(timestamp_request(digest, nonce, timestamping.policy_oid), seconds)
    encoded = _granted_token(answer)
    token = check_token(encoded, _only(digest))
    if token.nonce != nonce:
        raise TokenRefused("the token answers another request (nonce)")
    if timestamping.policy_oid and token.policy_oid != timestamping.policy_oid:
        raise TokenRefused(f"the token follows policy {token.policy_oid}, not the one asked for")
    if abs(token.time - clock.now()) > _CLOCKS_APART:
        raise TokenRefused(f"the token states {clock.iso(token.time)}, more than a day away from this machine's clock")
    chain = _check_trust(token, timestamping.roots)
    if timestamping.refuse is not None:
        timestamping.refuse(chain, token.time)
    return Timestamp(encoded, token.time, token.authority, token.policy_oid, authority.name, chain)


def timestamp_request(digest: bytes, nonce: int, policy_oid: str = "") -> bytes:
    """DER of a TimeStampReq that wants the certificate in the answer (RFC 3161 §2.4.1)."""
    algorithm = der.sequence(der.oid(_hash_of(digest)), der.tlv(der.NULL))
    return der.sequence(
        der.integer(1),
        der.sequence(algorithm, der.octet_string(digest)),
        der.oid(policy_oid) if policy_oid else b"",
        der.integer(nonce),
        der.tlv(der.BOOLEAN, b"\xff"),
    )


def _hash_of(digest: bytes) -> str:
    for identifier, name in oids.HASHES.items():
        if hashlib.new(name).digest_size == len(digest):
            return identifier
    raise TokenRefused(f"a digest of {len(digest)} bytes cannot be stamped")


def _only(digest: bytes) -> Callable[[str], bytes]:
    """The digest under its own hash; nothing under any other."""
    own = oids.HASHES[_hash_of(digest)]
    return lambda name: digest if name == own else b""


def _granted_token(answer: bytes) -> bytes:
    """The token of a TimeStampResp whose status is granted or grantedWithMods (RFC 3161 §2.4.2)."""
    try:
        fields = der.read(answer).children()
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


def _check_trust(token: TimestampToken, roots: Sequence[bytes]) -> tuple[bytes, ...]:
    return check_chain(token.signer, token.certificates, roots, token.time)
