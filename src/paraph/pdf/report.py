"""The reports on verifying one file, or files that belong together, for people and for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal

from paraph.kernel import clock
from paraph.pdf.pki.certificate import Identity
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.verdict import Fault, SubIndication, Verdict, decide

Coverage = Literal["whole file", "its revision", "unclear"]
Level = Literal["", "B-B", "B-T", "B-LT", "B-LTA"]


@dataclass(frozen=True)
class SealTimestamp:
    """A genuine RFC 3161 timestamp."""

    authority: str
    time: datetime
    policy_oid: str
    trusted: bool
    """The authority chains to a trusted root."""
    faults: tuple[Fault, ...] = ()
    """Why it is not trusted."""

    def to_json(self) -> dict[str, Any]:
        return _json_fields(self, renamed={})


@dataclass(frozen=True)
class SignatureReport:
    """One signature of the file."""

    field_name: str
    kind: Literal["seal", "document timestamp"]
    signer: str
    """The name in the certificate; empty where that cannot be read."""
    certificate: Identity | None
    root: Identity | None
    """The root that the certificate chains to; ``None`` where it is not trusted."""
    purpose: Purpose | None
    """The purpose stated in an intact seal; ``None`` in seals of other programs."""
    intact: bool
    """The covered bytes are unchanged and the cryptography holds."""
    matches: bool | None
    """The covered bytes are as they were signed, even if with an outdated hash, and the file was not altered since;
    ``None`` where that cannot be told."""
    trusted: bool
    """The certificate chains to a trusted root, was valid at the time that counts, and was not revoked."""
    coverage: Coverage
    claimed_at: datetime | None
    """The time by the signer's clock."""
    timestamp: SealTimestamp | None
    level: Level
    """PAdES level (ETSI EN 319 142-1); empty for a document timestamp and for signatures of another kind."""
    altered: bool
    """Something was appended since that is not known to be long-term data, an invisible timestamp or a trusted
    signature."""
    changes: tuple[str, ...]
    """A sentence for each thing that was appended since."""
    faults: tuple[Fault, ...]
    """What is wrong with the signature itself."""

    @property
    def findings(self) -> list[str]:
        """Return a sentence for each fault."""
        return [fault.sentence for fault in self.faults]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on this signature alone."""
        is_stamped_in_order = self.timestamp is None or self.timestamp.trusted
        proven = self.intact and self.trusted and is_stamped_in_order and self.matches is True and not self.altered
        return decide(proven=proven, faults=self.all_faults)

    @property
    def all_faults(self) -> list[Fault]:
        """Return what is wrong with the signature itself, and with what was appended since."""
        if self.altered:
            return [*self.faults, Fault("FORMAT_FAILURE", self.changes[-1])]
        if self.matches is None and not self.faults:
            name = self.field_name or "without a name"
            sentence = f"Whether the file was altered after the {self.kind} {name} cannot be told."
            return [Fault("SIG_CONSTRAINTS_FAILURE", sentence)]
        return [*self.faults]

    def to_json(self) -> dict[str, Any]:
        values = _json_fields(self, renamed={"field_name": "field"})
        return {**self.verdict.to_json(), **values, "findings": self.findings}


_FACTS = ("indication", "sub_indication", "certificate", "root", "purpose")
_DETAILS = ("The signer's certificate is ", "Level B-")


@dataclass(frozen=True)
class Verification:
    """The report on a whole file: the verdict of its last seal, and every signature one by one."""

    intact: bool = False
    trusted: bool = False
    covers_whole_file: bool = False
    """The seal, or a timestamp after it, covers all bytes but for a little white space at the end."""
    altered: bool = False
    earlier_match: bool = True
    """No earlier signature proves, or leaves open, that the file was altered before it was sealed again."""
    signer: str = ""
    certificate: Identity | None = None
    """The signer's certificate."""
    root: Identity | None = None
    """The root that the certificate chains to."""
    signer_accepted: bool = True
    """The signer is one of the accepted ones, or everybody is accepted."""
    purpose: Purpose | None = None
    """The purpose stated in the seal."""
    signed_at: datetime | None = None
    """The time of a trusted timestamp, else the time by the signer's clock."""
    timestamp: SealTimestamp | None = None
    level: Level = ""
    changes: Sequence[str] = ()
    findings: Sequence[str] = ()
    signatures: Sequence[SignatureReport] = field(default=())
    detached_timestamps: Sequence[SealTimestamp] = ()
    """The timestamps beside the file that hold and are trusted, in order."""
    detached_timestamps_hold: bool = True
    """All timestamps that were given beside the file hold and are trusted."""
    faults: Sequence[Fault] = ()
    """Why the verdict is not ``TOTAL-PASSED``."""
    as_of: datetime | None = None
    """The time in the past that the caller asked about."""

    @classmethod
    def without(cls, sentence: str, kind: SubIndication = "SIGNED_DATA_NOT_FOUND") -> "Verification":
        """Return the report on a file in which nothing can be verified."""
        return cls(findings=[sentence], faults=[Fault(kind, sentence)])

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the file: it holds if it is sealed by an accepted signer, intact, trusted and unaltered
        since the seal and between seals, all bytes are covered, and all timestamps beside it hold."""
        proven = self.sound and self.earlier_match and self.signer_accepted and self.detached_timestamps_hold
        return decide(proven=proven, faults=self.faults)

    @property
    def sound(self) -> bool:
        """Whether the last seal is intact and trusted, nothing was altered since, and all bytes are covered."""
        return self.intact and self.trusted and self.covers_whole_file and not self.altered

    @property
    def short_findings(self) -> list[str]:
        """Return the findings; for a valid file, without those that spell out the certificate and the level of its
        seal."""
        return [each for each in self.findings if not (self.ok and each.startswith(_DETAILS))]

    @property
    def ok(self) -> bool:
        """Whether the verdict is ``TOTAL-PASSED``. Only then does ``paraph verify`` end with 0."""
        return self.verdict.indication == "TOTAL-PASSED"

    def to_json(self) -> dict[str, Any]:
        """Return values that :mod:`json` can write; times in UTC, ``null`` where unknown."""
        renamed = {"signer_accepted": "as_asked", "detached_timestamps": "kept_timestamps"}
        values = {"ok": self.ok, **self.verdict.to_json(), **_json_fields(self, renamed)}
        del values["detached_timestamps_hold"]  # a part of "ok", explained by the findings
        return values


@dataclass
class Signed:
    """The name of a signer and the time of signing, as the journal of a proof states them."""

    name: str
    time: datetime


@dataclass
class Inclusion:
    """The proof of inclusion in a transparency log (C2SP tlog-proof) that a bundle has, not checked yet."""

    proof_sha256: bytes
    text: str | None


@dataclass
class EvidenceCheck:
    """What matches among files that belong together and what does not, a sentence each; ``notes`` say what was not
    compared because it was not given."""

    matches: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sealed: dict[str, Verification] = field(default_factory=dict)
    """The verification of each sealed file, by the name of the file."""
    strange: dict[str, Verification] = field(default_factory=dict)
    """The same for files that belong to no document of the proof."""
    as_of: datetime | None = None
    """The time in the past that the caller asked about."""
    inclusion: Inclusion | None = None
    """Set for a bundle only."""
    signed: list[Signed] = field(default_factory=list)
    """Who signed when, in order: to be believed only if the verdict is ``TOTAL-PASSED``."""

    @property
    def problems(self) -> list[str]:
        """Return a sentence for each fault."""
        return [fault.sentence for fault in self.faults]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on all that was given: it holds if everything matches, and each sealed file holds."""
        proven = bool(self.matches) and bool(self.sealed) and all(seal.ok for seal in self.sealed.values())
        return decide(proven=proven, faults=self.faults)

    @property
    def ok(self) -> bool:
        """Whether the verdict is ``TOTAL-PASSED``."""
        return self.verdict.indication == "TOTAL-PASSED"

    def to_json(self) -> dict[str, Any]:
        seals = {name: seal.to_json() for name, seal in self.sealed.items()}
        facts = {name: {key: seal[key] for key in _FACTS} for name, seal in seals.items()}
        lists = {"matches": self.matches, "problems": self.problems, "notes": self.notes}
        return {"ok": self.ok, **self.verdict.to_json(), **lists, "sealed": facts, "as_of": _json(self.as_of)}

    def note(self, holds: bool, match: str, problem: str, kind: SubIndication = "FORMAT_FAILURE") -> None:
        """Add ``match`` to the matches where something holds, else ``problem`` to the faults."""
        if holds:
            self.matches.append(match)
        else:
            self.fault(problem, kind)

    def fault(self, problem: str, kind: SubIndication = "FORMAT_FAILURE") -> None:
        self.faults.append(Fault(kind, problem))


def _json_fields(report: Any, renamed: Mapping[str, str]) -> dict[str, Any]:
    names = [each.name for each in fields(report) if each.name != "faults"]
    return {renamed.get(name, name): _json(getattr(report, name)) for name in names}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return clock.iso_milliseconds(value)
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value.to_json() if hasattr(value, "to_json") else value
