"""The result of checking that files belong together."""

from dataclasses import dataclass, field
from typing import Any

from paraph.pdf.report import Verification

_SEAL_FACTS = ("certificate", "root", "purpose")


@dataclass
class EvidenceCheck:
    """What matches and what does not, a sentence each; ``notes`` say what was not compared, as it was not given."""

    matches: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sealed: dict[str, Verification] = field(default_factory=dict)
    """The verification of each sealed file, by the name of the file."""

    @property
    def ok(self) -> bool:
        """Whether everything that was given matches."""
        return bool(self.matches) and not self.problems

    def to_json(self) -> dict[str, Any]:
        seals = {name: seal.to_json() for name, seal in self.sealed.items()}
        return {
            "ok": self.ok,
            "matches": self.matches,
            "problems": self.problems,
            "notes": self.notes,
            "sealed": {name: {key: seal[key] for key in _SEAL_FACTS} for name, seal in seals.items()},
        }

    def note(self, holds: bool, match: str, problem: str) -> None:
        """Add ``match`` to the matches where something holds, else ``problem`` to the problems."""
        (self.matches if holds else self.problems).append(match if holds else problem)
