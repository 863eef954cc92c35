"""Where the text of a tag stands in a PDF (specification 4.5, ``magic_field``).

A tag is found when it stands verbatim on a page as a reader sees it, letter case included, also as a part of a
longer word (``sign1`` is found in ``sign10``). White space is not compared, as PDF has none: words are set
apart by moving the pen. Composed and decomposed accents, ligatures and compatibility forms count as the same.
A tag may be split into runs, kerned, inside form XObjects, on rotated pages, and broken over lines, never over
pages. Text outside the crop box, of form fields and of annotations is no text of the page. Tags of printable
ASCII are the supported form; other scripts, also from right to left, work as far as the PDF says which characters it
draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paraph.pdf.untrusted.sandbox import Pdf, sandbox


@dataclass(frozen=True)
class FoundTag:
    """The box of the tag's ink in points of reader space (origin bottom left); ``page_number`` counts from 1.

    A tag broken over several lines has the box of its last line, so that what is placed under it is under all.
    """

    page_number: int
    x: float
    y: float
    width: float
    height: float


def find_tags(pdf: Pdf, tags: Sequence[str], *, party: str = "", sha256: bytes = b"") -> dict[str, FoundTag]:
    """The first occurrence of each tag in reading order: by page, then from top to bottom, then left to right.

    Tags that do not occur are missing. ``pdf``, ``party`` and ``sha256``: see
    :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`. Raises PdfRefused.
    """
    result, _ = sandbox().call("find", pdf, party=party, sha256=sha256, tags=list(tags))
    return {tag: _found(*place) for tag, place in result["found"].items()}


def _found(page_number: int, left: float, bottom: float, right: float, top: float) -> FoundTag:
    return FoundTag(page_number, left, bottom, right - left, top - bottom)
