"""Timestamps from RFC 3161 authorities, tried in order within one time budget, each token verified before use."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.pdf.pki import oids
from paraph.pdf.pki.revocation_data import Revoked
from paraph.pdf.pki.trust import Untrusted, check_chain
from paraph.pdf.timestamps.timestamp_messages import granted_token, hash_of, timestamp_request
from paraph.pdf.timestamps.timestamp_token import TokenRefused, check_token

_MAX_CLOCK_DIFFERENCE = timedelta(days=1)
_SHORTEST_TRY = 0.05  # seconds


class TimestampAuthority(Protocol):
    """A timestamp authority: answers a TimeStampReq (DER) with a TimeStampResp (DER)."""

    @property
    def name(self) -> str:
        """The name in messages: the address without credentials, or ``built-in``."""

    def answer(self, request: bytes, timeout: float) -> bytes:
        """Returns the response. Raises :class:`AuthorityFailed` where none comes within ``timeout`` seconds."""


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
    """The authorities to ask for timestamps, and the roots to trust."""

    authorities: Sequence[TimestampAuthority]
    roots: Sequence[bytes]
    """DER of the roots that an authority's certificate must chain to."""
    budget_seconds: float = 10
    """The time for all authorities together; what one leaves is shared by the next ones."""
    policy_oid: str = ""
    """The policy to demand; empty for the authority's choice."""
    check_not_revoked: Callable[[tuple[bytes, ...], datetime], None] | None = None
    """Raises :class:`~paraph.pdf.pki.revocation_data.Revoked` for a chain known to have been revoked at a time."""

    def preferring(self, name: str) -> "Timestamping":
        """Returns a copy that asks the authority of that name first."""
        return replace(self, authorities=sorted(self.authorities, key=lambda authority: authority.name != name))


def stamp_time(digest: bytes, timestamping: Timestamping) -> tuple[Timestamp | None, list[str]]:
    """Returns a verified timestamp of ``digest`` (SHA-256, 384 or 512) from the first authority that gives one, and a
    sentence for each authority that failed; ``None`` where all of them failed. Raises nothing."""
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
    encoded = granted_token(answer)
    token = check_token(encoded, _digest_under_its_hash(digest))
    if token.nonce != nonce:
        raise TokenRefused("the token answers another request (nonce)")
    if timestamping.policy_oid and token.policy_oid != timestamping.policy_oid:
        raise TokenRefused(f"the token follows policy {token.policy_oid}, not the one asked for")
    if abs(token.time - clock.now()) > _MAX_CLOCK_DIFFERENCE:
        raise TokenRefused(f"the token states {clock.iso(token.time)}, more than a day away from this machine's clock")
    chain = check_chain(token.signer, token.certificates, timestamping.roots, token.time)
    if timestamping.check_not_revoked is not None:
        timestamping.check_not_revoked(chain, token.time)
    return Timestamp(encoded, token.time, token.authority, token.policy_oid, authority.name, chain)


def _digest_under_its_hash(digest: bytes) -> Callable[[str], bytes]:
    """Returns a function from the name of a hash to the digest, empty for every other hash than that of the digest."""
    hash_name = oids.HASHES[hash_of(digest)]
    return lambda name: digest if name == hash_name else b""
