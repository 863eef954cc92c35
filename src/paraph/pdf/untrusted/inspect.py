"""The check of an upload (rule 4.2): can this file be shown, stamped and sealed?

``PdfRefused`` is raised for what is no PDF or cannot be read (``not_a_pdf``, ``unreadable``), what one reader opens and
another does not (``damaged``), what needs a password to open (``password``; an owner password alone is accepted), no or
too many pages (``no_pages``, ``too_many_pages``), dynamic XFA forms (``dynamic_xfa``), a signature that forbids any
change (``changes_forbidden``) or makes the verdict on the sealed file fail (``signature_does_not_hold``), what exhausts
or hangs a reader (``too_complex``), what readers show differently (``shown_differently``, ``unclear_page_count``, and
``link_border_over_text``, ``annotation_over_text`` and ``form_field_over_text`` where only some draw what lies over
text), and what fails its dry run (``cannot_be_sealed``). Scripts, launch actions, earlier signatures that hold, pages
that print differently, other places that readers draw differently and repairs are accepted and reported in
``preflight``.
"""

from dataclasses import dataclass
from typing import Any, BinaryIO

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.normalise import Method
from paraph.pdf.untrusted.sandbox import sandbox
from paraph.pdf.untrusted.second_look import second_look, second_renderer

_PATIENCE = 3  # of an odd file, each page is drawn twice
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

    ``clean_contents``: see :func:`paraph.pdf.sealing.seal.seal`, of the file that is sealed.
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
    if isinstance(pdf, bytes):
        beginning = pdf[:_MARK_WITHIN]
    else:
        pdf.seek(0)
        beginning = pdf.read(_MARK_WITHIN)
    if b"%PDF-" not in beginning:
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
