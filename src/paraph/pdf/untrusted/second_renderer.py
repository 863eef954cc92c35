"""Pictures of pages by a second renderer, poppler's ``pdftoppm``, where it is installed.

It is a program of its own, started for one range of pages and confined (:mod:`paraph.confinement.program`). Its
pictures are read only by the sandboxed processes, as the file itself is.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from functools import cache
from typing import BinaryIO

from paraph.pdf.untrusted.sandbox_process import open_descriptor, worker_environment

RESOLUTION = 60  # pixels an inch: a letter of 12 points is ten pixels high
_PROCESSOR_SECONDS = 4
_WALL_SECONDS = 15.0
_MEMORY = 512 << 20
_MOST_BYTES = 64 << 20  # of all pictures of a range


@cache
def program() -> str | None:
    """Return the path of ``pdftoppm``; ``None`` where it is not installed. A program installed later is found by
    processes that start later."""
    return shutil.which("pdftoppm", path="/usr/bin:/usr/local/bin")


def draw(pdf: bytes | BinaryIO, first: int, last: int, pictures: BinaryIO) -> None:
    """Write grey pictures of the pages ``first`` to ``last``, counted from 1, to an open file: one PGM (magic ``P5``)
    after the other at :data:`RESOLUTION`, without annotations. Fewer, or the last cut off, where the program ends early
    or takes more memory, time or room than it may have, and none where it is missing or cannot be confined."""
    path = program()
    if path is None:
        return
    options = ["-gray", "-r", str(RESOLUTION), "-cropbox", "-hide-annotations", "-f", str(first), "-l", str(last), "-"]
    limits = map(str, (os.getpid(), _MEMORY, _MOST_BYTES, _PROCESSOR_SECONDS))
    with open_descriptor(pdf) as descriptor, contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(  # noqa: S603  a module of this package and a program by its whole path
            [sys.executable, "-P", "-m", "paraph.confinement.program", *limits, path, *options],
            stdin=descriptor,
            stdout=pictures,
            stderr=subprocess.DEVNULL,
            env=worker_environment(),
            timeout=_WALL_SECONDS,
            check=False,
        )
