"""The three-page contract that the demo signs."""

from functools import cache
from pathlib import Path

import typst

_SOURCE = Path(__file__).parents[1] / "examples/contract.typ"


@cache
def contract() -> bytes:
    """Return three A4 pages as PDF; the last carries the tag ``{{signature:landlord}}`` and room for a second stamp."""
    pdf: bytes = typst.compile(_SOURCE, format="pdf", ignore_system_fonts=True)
    return pdf
