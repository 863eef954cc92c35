"""Pictures of pages as shown: with filled form fields, cropped, rotated and scaled by the user unit.

``pdf``, ``party`` and ``sha256`` of the file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`.
"""

from typing import Any

from paraph.pdf.untrusted.sandbox import Pdf, sandbox


def render_page(
    pdf: Pdf, page_number: int, scale: float, *, part: int = 0, party: str = "", sha256: bytes = b""
) -> bytes:
    """Return the page as WebP, ``scale`` pixels per point: lossless for text, quality 80 for photos. A huge page is
    drawn smaller, with at most 16 million pixels; in sixteen parts, of which ``part`` names one (1 to 16, in lines from
    the top left), with at most 64 million. Raises PdfRefused, for example ``no_such_page``. Nothing is cached here."""
    arguments: dict[str, Any] = {"page_number": page_number, "scale": scale, "form": "webp", "part": part}
    return sandbox().call("render", pdf, party=party, sha256=sha256, **arguments)[1]


def render_png(pdf: bytes, page_number: int, scale: float) -> bytes:
    """Return the page as PNG, every pixel as drawn. Raises as :func:`render_page` does."""
    return sandbox().call("render", pdf, page_number=page_number, scale=scale, form="png")[1]


def render_printed_page(pdf: Pdf, page_number: int, scale: float, *, party: str = "", sha256: bytes = b"") -> bytes:
    """Return the page as it prints, as WebP: screen-only annotations left out, print-only ones drawn, layers as in
    print. Raises as :func:`render_page` does."""
    arguments: dict[str, Any] = {"page_number": page_number, "scale": scale, "form": "webp", "printed": True}
    return sandbox().call("render", pdf, party=party, sha256=sha256, **arguments)[1]
