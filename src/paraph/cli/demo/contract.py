"""The three-page contract that the demo signs."""

from pathlib import Path

import typst


def contract() -> bytes:
    """Return three A4 pages as PDF; the last carries the tag ``{{signature:landlord}}`` and room for a second stamp."""
    pdf: bytes = typst.compile(Path(__file__).with_name("contract.typ"), format="pdf", ignore_system_fonts=True)
    return pdf
