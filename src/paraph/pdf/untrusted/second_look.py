"""Where a second renderer, poppler's ``pdftoppm``, draws pages otherwise than PDFium, which draws them for signers.

The renderer is asked where it is installed: a program of its own, started for one range of pages and confined
(:mod:`paraph.confinement.program`). Its pictures are read only by the sandboxed processes, as the file itself is.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from typing import Any, BinaryIO

from paraph.pdf.structure.objects import runs
from paraph.pdf.untrusted.sandbox import sandbox
from paraph.pdf.untrusted.sandbox_process import open_descriptor, worker_environment

_MOST_PAGES = 24  # pages that are compared; a place is told of each further one, as it is of those that took too long
_RESOLUTION = 60  # pixels an inch: a letter of 12 points is ten pixels high
_PROCESSOR_SECONDS = 4
_WALL_SECONDS = 15.0
_MEMORY = 512 << 20
_MOST_BYTES = 64 << 20  # of all pictures of a range


def second_look(
    pdf: bytes | BinaryIO, pages: Sequence[int], sizes: Sequence[tuple[float, float]], tenant_key: str
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the places of some ``pages`` that the two renderers draw differently by a word or more, as they stand in
    ``drawn_differently``, and the numbers of the pages where one of them has text. The whole page where it cannot be
    compared. ``pages`` count from 1 and ascend; ``sizes``: of all pages. Raise PdfRefused or ReadersUnavailable."""
    places: list[dict[str, Any]] = []
    over_text: set[int] = set()
    compared: set[int] = set()
    for run in runs(pages[:_MOST_PAGES]):
        first = run[0]
        with tempfile.TemporaryFile() as pictures:
            _draw(pdf, first, run[-1], pictures)
            if not pictures.seek(0, 2):
                continue
            facts: dict[str, Any] = {"tenant_key": tenant_key, "first": first, "resolution": _RESOLUTION}
            result, _ = sandbox().call("compare", [pdf, pictures], **facts)
        compared |= set(range(first, first + result["compared"]))
        places += [place for place, _ in result["places"]]
        over_text |= {place["page_number"] for place, has_text in result["places"] if has_text}
    for page in (each for each in pages if each not in compared):
        area = dict(zip(("x", "y", "width", "height"), (0.0, 0.0, *sizes[page - 1]), strict=True))
        places.append({"page_number": page, **area, "what": "contents"})
    return places, sorted(over_text)


@cache
def second_renderer() -> str | None:
    """Return the path of ``pdftoppm``; ``None`` where it is not installed. A program installed later is found by
    processes that start later."""
    return shutil.which("pdftoppm", path="/usr/bin:/usr/local/bin")


def _draw(pdf: bytes | BinaryIO, first: int, last: int, pictures: BinaryIO) -> None:
    """Write grey pictures of the pages ``first`` to ``last``, counted from 1, to an open file: one PGM (magic ``P5``)
    after the other, without annotations. Fewer, or the last cut off, where the program ends early or takes more memory,
    time or room than it may have, and none where it is missing or cannot be confined."""
    path = second_renderer()
    if path is None:
        return
    options = ["-gray", "-r", str(_RESOLUTION), "-cropbox", "-hide-annotations", "-f", str(first), "-l", str(last), "-"]
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
