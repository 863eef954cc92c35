"""The measures that confine a process: what they guarantee, and how they are taken in an order that works."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paraph.confinement import landlock, namespaces, seccomp
from paraph.confinement.libc import PR_SET_NO_NEW_PRIVS, prctl

MEASURES = ("namespaces", "Landlock", "seccomp")


@dataclass(frozen=True)
class Confinement:
    """How a process is confined. ``missing``: why a measure is not in force, by its name in :data:`MEASURES`."""

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


def confine(readable: Sequence[str] = (), *, programs: bool = False) -> Confinement:
    """Leave this process only its open descriptors, its memory, and read access to the files below ``readable``.

    This cannot be undone. The process must have a single thread and have imported whatever it needs. If neither
    namespaces nor Landlock can keep other files away, no file can be opened at all, not even in ``readable``.
    ``programs``: whether it may then become a program of one of these folders, under the same confinement. Raise
    nothing: the result says which measures are missing.
    """
    if sys.platform != "linux":
        return Confinement(dict.fromkeys(MEASURES, "this system has none"))
    missing: dict[str, str] = {}
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _attempt("namespaces", missing, lambda: namespaces.enter(readable, programs=programs))
    namespaces.leave_root()
    _attempt("Landlock", missing, lambda: landlock.restrict(readable, programs=programs))
    namespaces.drop_capabilities()
    opening = bool(readable) and not {"namespaces", "Landlock"} <= missing.keys()
    _attempt("seccomp", missing, lambda: seccomp.install(opening=opening, programs=programs))
    return Confinement(missing)


def _attempt(measure: str, missing: dict[str, str], take: Callable[[], None]) -> None:
    try:
        take()
    except (OSError, AttributeError) as error:  # the kernel or the C library does not offer it
        missing[measure] = str(getattr(error, "strerror", None) or error)
