"""The measures that confine a process, and what they guarantee."""

from collections.abc import Mapping
from dataclasses import dataclass

MEASURES = ("namespaces", "Landlock", "seccomp")


@dataclass(frozen=True)
class Confinement:
    """``missing``: by the name of each measure of :data:`MEASURES` that is not in force, the reason."""

    missing: Mapping[str, str]

    @property
    def measures(self) -> list[str]:
        return [measure for measure in MEASURES if measure not in self.missing]

    @property
    def complete(self) -> bool:
        return not self.missing

    @property
    def holds(self) -> bool:
        """Whether network, files and programs are out of reach. Only the filter of system calls guarantees that:
        without the other measures, it lets no file be opened."""
        return "seccomp" not in self.missing

    @property
    def blind(self) -> bool:
        """Whether not even the readable folders can be read."""
        return self.measures == ["seccomp"]

    @property
    def sentence(self) -> str:
        names = ", ".join(self.measures)
        if self.holds:
            said = f"PDFs are read in processes without network, files or programs: {names}."
        elif names:
            said = f"PDFs are read in processes that are confined in part: {names}."
        else:
            said = "PDFs are read in processes that only limits of time and memory confine."
        reasons = "; ".join(f"{measure} ({reason})" for measure, reason in self.missing.items())
        lost = " So the fonts of this machine cannot be used: letters whose font is not in the file are not shown."
        return f"{said} Not to be had here: {reasons}.{lost if self.blind else ''}" if reasons else said
