"""The check of an upload (rule 4.2): can this file be shown, stamped and sealed?

``PdfRefused`` is raised for a file that is no PDF or cannot be read (``not_a_pdf``, ``unreadable``), that one reader
opens and another does not (``damaged``), needs a password to open (``password``; an owner password alone is accepted),
has no or too many pages (``no_pages``, ``too_many_pages``), is a dynamic XFA form (``dynamic_xfa``), has a signature
that forbids any change (``changes_forbidden``) or makes the verdict on the sealed file fail
(``signature_does_not_hold``), exhausts or hangs a reader (``too_complex``), is shown differently by readers
(``shown_differently``, ``unclear_page_count``, and ``link_border_over_text``, ``annotation_over_text`` and
``form_field_over_text`` where only some draw what lies over text), or fails its dry run (``cannot_be_sealed``).
Scripts, launch actions, earlier signatures that hold, pages that print differently, other places that readers draw
differently and repairs are accepted and reported in ``preflight``.

Where poppler's ``pdftoppm`` is installed, it draws doubtful pages as well: a program of its own, started for one range
of pages and confined (:mod:`paraph.confinement.program`). Its pictures are read by sandboxed processes alone.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.normalise import Method
from paraph.pdf.structure.objects import runs
from paraph.pdf.untrusted.sandbox import sandbox, worker_environment
from paraph.pdf.untrusted.sandbox_wire import open_descriptor

_PATIENCE = 3  # each page of an odd file is drawn twice
_MARK_WITHIN = 1024  # bytes in which readers look for the header


@dataclass(frozen=True)
class Inspection:
    """``pages``: (width, height) of each page in points of reader space. ``preflight`` is JSON:

    ``page_count``, ``sizes`` [{width, height, pages}], ``rotated_pages``, ``version``, ``encryption`` null or {method,
    bits, permissions}, ``signatures`` {count, certification, usage_rights}, ``forms`` {fields, xfa}, ``scripts``,
    ``launch_actions``, ``submit_actions``, ``attachments`` (counts), ``prints_differently`` (numbers of pages that look
    different in print), ``print_unknown`` (count of pages not compared for want of time), ``can_change`` (what can
    change what is shown: ``scripts``, ``actions``, ``layers``, ``media``, ``xfa_form``, ``hover_annotations``,
    ``screen_only_annotations``, ``print_only_annotations``, ``print_only_contents``), ``drawn_differently`` (places
    that other readers may draw otherwise: ``page_number``, ``x``, ``y``, ``width``, ``height`` in points of reader
    space, ``what``), ``text_drawn_differently`` (numbers of the pages with text that a second renderer draws
    otherwise, where it was asked), ``repairs`` (sentences of the reader), ``method``
    (:data:`paraph.pdf.structure.normalise.Method`).

    ``clean_contents``: as for :func:`paraph.pdf.sealing.seal.seal`, about the file that is sealed.
    ``prepared`` is the file to show, to search and to seal in place of the upload; ``None`` if the upload is fine.
    """

    pages: list[tuple[float, float]]
    preflight: dict[str, Any]
    clean_contents: bool
    prepared: bytes | None = None

    @property
    def method(self) -> Method:
        """How the variant that is sealed was made."""
        method: Method = self.preflight["method"]
        return method


def inspect(pdf: bytes | BinaryIO, *, page_limit: int, tenant_key: str = "", sha256: bytes = b"") -> Inspection:
    """Check a file; an open one is read whole, whatever its position. ``tenant_key`` and ``sha256``: see
    :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`. Raise PdfRefused."""
    if not isinstance(pdf, bytes):
        pdf.seek(0)
    if b"%PDF-" not in (pdf[:_MARK_WITHIN] if isinstance(pdf, bytes) else pdf.read(_MARK_WITHIN)):
        raise PdfRefused("not_a_pdf", "The file is not a PDF.")
    known: dict[str, Any] = {"tenant_key": tenant_key, "sha256": sha256, "patience": _PATIENCE}
    result, prepared = sandbox().call("inspect", pdf, page_limit=page_limit, **known)
    sizes = [(width, height) for width, height in result["pages"]]
    preflight: dict[str, Any] = result["preflight"]
    if result["doubtful"] and second_renderer():
        places, over_text = second_look(prepared or pdf, result["doubtful"], sizes, tenant_key)
        places = preflight["drawn_differently"] + places
        preflight = {**preflight, "drawn_differently": places, "text_drawn_differently": over_text}
    return Inspection(sizes, preflight, result["clean_contents"], prepared or None)


_MOST_PAGES = 24  # pages that are compared; each further one is reported as a place, like those that took too long
_RESOLUTION = 60  # pixels an inch: a letter of 12 points is ten pixels high
_PROCESSOR_SECONDS = 4
_WALL_SECONDS = 15.0
_MEMORY = 512 << 20
_MOST_BYTES = 64 << 20  # of all pictures of a range


def second_look(
    pdf: bytes | BinaryIO, pages: Sequence[int], sizes: Sequence[tuple[float, float]], tenant_key: str
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the places on some ``pages`` that the two renderers draw differently by a word or more, as entries of
    ``drawn_differently``, and the numbers of the pages where such a place has text. A page that cannot be compared is
    one place. ``pages`` count from 1 and ascend; ``sizes``: of all pages. Raise PdfRefused or ReadersUnavailable."""
    places: list[dict[str, Any]] = []
    over_text: set[int] = set()
    compared: set[int] = set()
    for run in runs(pages[:_MOST_PAGES]):
        with tempfile.TemporaryFile() as pictures:
            _draw(pdf, run[0], run[-1], pictures)
            if not pictures.seek(0, 2):
                continue
            facts: dict[str, Any] = {"tenant_key": tenant_key, "first": run[0], "resolution": _RESOLUTION}
            result, _ = sandbox().call("compare", [pdf, pictures], **facts)
        compared |= set(range(run[0], run[0] + result["compared"]))
        places += [place for place, _ in result["places"]]
        over_text |= {place["page_number"] for place, has_text in result["places"] if has_text}
    for page in (each for each in pages if each not in compared):
        area = dict(zip(("x", "y", "width", "height"), (0.0, 0.0, *sizes[page - 1]), strict=True))
        places.append({"page_number": page, **area, "what": "contents"})
    return places, sorted(over_text)


@cache
def second_renderer() -> str | None:
    """Return the path of ``pdftoppm``, ``None`` where it is missing. Each process of the service looks only once."""
    return shutil.which("pdftoppm", path="/usr/bin:/usr/local/bin")


def _draw(pdf: bytes | BinaryIO, first: int, last: int, pictures: BinaryIO) -> None:
    """Write grey pictures of the pages ``first`` to ``last``, counted from 1, to an open file: one PGM (magic ``P5``)
    after the other, without annotations. There are fewer, or the last is cut off, where the program ends early or
    exceeds its memory, time or room, and none where it is missing or cannot be confined."""
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
