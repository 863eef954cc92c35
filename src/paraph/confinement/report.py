"""Which measures confine a process, and what that promises."""

from collections.abc import Mapping
from dataclasses import dataclass

MEASURES = ("namespaces", "Landlock", "seccomp")


@dataclass(frozen=True)
class Confinement:
    """``missing``: why a measure of :data:`MEASURES` was not to be had, by its name."""

    missing: Mapping[str, str]

    @property
    def measures(self) -> list[str]:
        """Those that are on."""
        return [measure for measure in MEASURES if measure not in self.missing]

    @property
    def complete(self) -> bool:
        return not self.missing

    @property
    def holds(self) -> bool:
        """Whether network, files and programs are out of reach. Only a filter of system calls keeps programs and the
        sockets of files away; what it lets through, opening files, needs one of the others."""
        return "seccomp" not in self.missing and len(self.measures) > 1

    @property
    def sentence(self) -> str:
        """For operators."""
        names = ", ".join(self.measures)
        if self.holds:
            said = f"PDFs are read in processes without network, files or programs: {names}."
        elif names:
            said = f"PDFs are read in processes that are confined in part: {names}."
        else:
            said = "PDFs are read in processes that only limits of time and memory confine."
        reasons = "; ".join(f"{measure} ({reason})" for measure, reason in self.missing.items())
        return f"{said} Not to be had here: {reasons}." if reasons else said
