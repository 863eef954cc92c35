"""The programs of others that judge: where they come from, and how long they may take."""

import shutil
import subprocess
from collections.abc import Sequence

_PACKAGES = {"certutil": "libnss3-tools", "pdfsig": "poppler-utils", "pdftoppm": "poppler-utils", "qpdf": "qpdf"}
SECONDS = 20
"""For one call of one program."""


class NoAnswer(Exception):
    """A program of others did not end in time; the message names it."""


def missing() -> str:
    """One sentence about the programs that are not installed, with their Debian packages; empty when all are."""
    absent = [name for name in _PACKAGES if not shutil.which(name)]
    if not absent:
        return ""
    packages = " ".join(sorted({_PACKAGES[name] for name in absent}))
    return f"To judge PDFs, {', '.join(absent)} must be installed (Debian and Ubuntu: apt-get install {packages})."


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[bytes]":
    """Raises :class:`NoAnswer` when the program takes longer than it may; its exit status is the caller's."""
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        whose = "poppler" if _PACKAGES.get(command[0]) == "poppler-utils" else command[0]
        raise NoAnswer(f"no answer from {whose} ({command[0]}) within {SECONDS} s") from error
