"""Names in files of strangers, which need not be UTF-8."""

from typing import Any

import pikepdf


def name_of(value: Any, otherwise: str = "") -> str:
    """Return a name with its slash as qpdf writes it, ``otherwise`` for anything else. ``str()`` needs UTF-8."""
    return value.unparse().decode("latin-1") if isinstance(value, pikepdf.Name) else otherwise


NAMES_OF_ANNOTATIONS = frozenset(
    {
        *("Text", "Link", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight", "Underline"),
        *("Squiggly", "StrikeOut", "Stamp", "Caret", "Ink", "Popup", "FileAttachment", "Sound", "Movie", "Widget"),
        *("Screen", "PrinterMark", "TrapNet", "Watermark", "3D", "Redact", "Projection", "RichMedia"),
    }
)
"""The types of ISO 32000-2, table 171."""
