"""Pages as pictures, as a reader sees them: filled form fields included, crop box, rotation, user unit applied.

``pdf``, ``party`` and ``sha256`` of the file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`.
"""

from typing import Any

from paraph.pdf.untrusted.sandbox import Pdf, sandbox


def render_page(pdf: Pdf, page_number: int, scale: float, *, party: str = "", sha256: bytes = b"") -> bytes:
    """The page as WebP, ``scale`` pixels per point: lossless for text, quality 80 for photos.

    A page of extraordinary size is drawn smaller, with at most 16 million pixels. Raises PdfRefused, for example
    ``no_such_page``. Keeping the picture is the caller's business.
    """
    arguments: dict[str, Any] = {"page_number": page_number, "scale": scale, "form": "webp"}
    return sandbox().call("render", pdf, party=party, sha256=sha256, **arguments)[1]


def render_png(pdf: bytes, page_number: int, scale: float) -> bytes:
    """The same as PNG, every pixel as drawn. Raises as :func:`render_page` does."""
    return sandbox().call("render", pdf, page_number=page_number, scale=scale, form="png")[1]


def render_printed_page(pdf: Pdf, page_number: int, scale: float, *, party: str = "", sha256: bytes = b"") -> bytes:
    """The page as it is printed, as WebP: annotations for the screen alone left out, those for print drawn, layers in
    their state for print. Raises as :func:`render_page` does."""
    arguments: dict[str, Any] = {"page_number": page_number, "scale": scale, "form": "webp", "printed": True}
    return sandbox().call("render", pdf, party=party, sha256=sha256, **arguments)[1]
