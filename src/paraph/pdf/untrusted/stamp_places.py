"""What a page shows where stamps are to stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraph.pdf.untrusted.sandbox import Pdf, sandbox

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space (origin bottom left)."""


@dataclass(frozen=True)
class Underneath:
    """What lies under a stamp. ``dark``: the page is too dark or too busy there for the stamp's letters to be read
    without a ground of their own. ``words``: what it covers, apart from tags and from blanks to be signed on."""

    dark: bool = False
    words: str = ""


def look_underneath(
    pdf: Pdf,
    places: Sequence[Place],
    *,
    pictures: bool = True,
    texts: bool = False,
    party: str = "",
    sha256: bytes = b"",
) -> list[Underneath]:
    """Return what lies under each place: with ``pictures``, by that of the page as signers see it, whether it is dark;
    with ``texts``, the words.
    ``pdf``, ``party`` and ``sha256``: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`. Raises PdfRefused."""
    arguments: dict[str, Any] = {"places": [list(place) for place in places], "pictures": pictures, "texts": texts}
    answer, _ = sandbox().call("stamp_places", pdf, party=party, sha256=sha256, **arguments)
    return [Underneath(dark, words) for dark, words in zip(answer["dark"], answer["covered"], strict=True)]
