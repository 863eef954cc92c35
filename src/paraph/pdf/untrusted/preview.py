"""Files of strangers as one PDF, with something over each page."""

from collections.abc import Sequence

from paraph.pdf.untrusted.sandbox import sandbox

_PATIENCE = 3


def preview(pdfs: Sequence[bytes], overlays: bytes, places: Sequence[Sequence[int]], *, tenant_key: str) -> bytes:
    """Return the pages of the files, one after the other. ``places``: for each page of each file the page of
    ``overlays`` that lies over it, from 0; sizes are those of the pages as a reader sees them. Raises PdfRefused."""
    places = [list(each) for each in places]
    _, content = sandbox().call("preview", [*pdfs, overlays], tenant_key=tenant_key, patience=_PATIENCE, places=places)
    return content
