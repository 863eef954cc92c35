"""What verification found, for people and for programs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from paraph.kernel import clock
from paraph.pdf.pki.identity import Identity
from paraph.pdf.pki.purpose import Purpose

Coverage = Literal["whole file", "its revision", "unclear"]
Level = Literal["", "B-B", "B-T", "B-LT", "B-LTA"]


@dataclass(frozen=True)
class SealTimestamp:
    """A genuine RFC 3161 timestamp."""

    authority: str
    time: datetime
    policy_oid: str
    trusted: bool
    """Whether the authority chains to a trusted root."""


@dataclass(frozen=True)
class SignatureReport:
    """One signature of the file."""

    field_name: str
    kind: Literal["seal", "document timestamp"]
    signer: str
    """The name in the certificate; empty where it cannot be read."""
    certificate: Identity | None
    root: Identity | None
    """Which of the roots the certificate chains to; ``None`` where it is not trusted."""
    purpose: Purpose | None
    """What an intact seal says that it was for; ``None`` where it does not say, as seals of others do not."""
    intact: bool
    """What it covers is unchanged, and its own cryptography holds."""
    matches: bool
    """Nothing shows that what it covers, or what was appended since, is not what was signed. One that nobody can read,
    or that was made with outdated algorithms, shows nothing."""
    trusted: bool
    """Its certificate chains to a trusted root, was valid at the time that counts, and was not revoked."""
    coverage: Coverage
    claimed_at: datetime | None
    """By the signer's own clock."""
    timestamp: SealTimestamp | None
    level: Level
    """PAdES level (ETSI EN 319 142-1); empty for a document timestamp and for signatures of another kind."""
    altered: bool
    """Something other than long-term data and timestamps was appended since, or nobody can tell."""
    changes: tuple[str, ...]
    """What was appended since, a sentence each."""
    findings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "field": self.field_name,
            "kind": self.kind,
            "signer": self.signer,
            "certificate": self.certificate.to_json() if self.certificate else None,
            "root": self.root.to_json() if self.root else None,
            "purpose": self.purpose.to_json() if self.purpose else None,
            "intact": self.intact,
            "matches": self.matches,
            "trusted": self.trusted,
            "coverage": self.coverage,
            "claimed_at": _iso(self.claimed_at),
            "timestamp": _timestamp_json(self.timestamp),
            "level": self.level,
            "altered": self.altered,
            "changes": list(self.changes),
            "findings": list(self.findings),
        }


@dataclass(frozen=True)
class Verification:
    """The whole file: what its last seal says, and every signature one by one."""

    intact: bool = False
    trusted: bool = False
    covers_whole_file: bool = False
    """By the seal, or by a timestamp after it."""
    altered: bool = False
    earlier_match: bool = True
    """No earlier seal shows that the file was altered before it was sealed again."""
    signer: str = ""
    certificate: Identity | None = None
    """Of the signer."""
    root: Identity | None = None
    """Which of the roots that certificate chains to."""
    signer_accepted: bool = True
    """Whether the signer is one of those that were asked for, where any were."""
    purpose: Purpose | None = None
    """What the seal says that it was for."""
    signed_at: datetime | None = None
    """By the timestamp where that is trusted, else by the signer's own clock."""
    timestamp: SealTimestamp | None = None
    level: Level = ""
    changes: Sequence[str] = ()
    findings: Sequence[str] = ()
    signatures: Sequence[SignatureReport] = field(default=())
    detached_timestamps: Sequence[SealTimestamp] = ()
    """Timestamps kept beside the file that hold and are trusted, in order."""
    detached_timestamps_hold: bool = True
    """Whether all of those that were given are such."""

    @property
    def ok(self) -> bool:
        """Sealed by whom was asked for, intact, trusted, nothing was altered since or between seals, and timestamps
        given beside the file are about it: the only case in which ``paraph verify`` ends 0."""
        return self.sound and self.earlier_match and self.signer_accepted and self.detached_timestamps_hold

    @property
    def sound(self) -> bool:
        """The last seal by itself: intact, trusted, and nothing was altered since."""
        return self.intact and self.trusted and not self.altered

    def to_json(self) -> dict[str, Any]:
        """Values that :mod:`json` can write; times in UTC, ``null`` where unknown."""
        return {
            "ok": self.ok,
            "intact": self.intact,
            "trusted": self.trusted,
            "covers_whole_file": self.covers_whole_file,
            "altered": self.altered,
            "earlier_match": self.earlier_match,
            "signer": self.signer,
            "certificate": self.certificate.to_json() if self.certificate else None,
            "root": self.root.to_json() if self.root else None,
            "as_asked": self.signer_accepted,
            "purpose": self.purpose.to_json() if self.purpose else None,
            "signed_at": _iso(self.signed_at),
            "timestamp": _timestamp_json(self.timestamp),
            "level": self.level,
            "changes": list(self.changes),
            "findings": list(self.findings),
            "signatures": [signature.to_json() for signature in self.signatures],
            "kept_timestamps": [_timestamp_json(stamp) for stamp in self.detached_timestamps],
        }


def _iso(moment: datetime | None) -> str | None:
    return clock.iso_milliseconds(moment) if moment else None


def _timestamp_json(timestamp: SealTimestamp | None) -> dict[str, Any] | None:
    if timestamp is None:
        return None
    return {
        "authority": timestamp.authority,
        "time": _iso(timestamp.time),
        "policy_oid": timestamp.policy_oid,
        "trusted": timestamp.trusted,
    }
