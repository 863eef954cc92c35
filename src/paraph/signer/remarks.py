"""What a signer is told above a document that can look different than on the page."""

from typing import Any

from paraph.documents.models import Document
from paraph.documents.remarks import remarks

_CHANGING = (  # what is for the screen or print alone is seen in the pictures of the pages as printed
    "scripts",
    "actions",
    "layers",
    "media",
    "xfa_form",
    "hover_annotations",
    "print_only_contents",
)


def remarks_for_page(document: Document, words: dict[str, str]) -> dict[str, Any]:
    """``prints_differently``: page numbers, ``print_unknown``: how many pages, ``drawn_differently``: numbers of the
    pages with such places, ``can_change``: what, in the page's language, ``altered_after_seal``: whether it was. Empty
    where there is nothing to tell."""
    told = remarks(document)
    parts = [words[word] for word in _CHANGING if word in told.get("can_change", [])]
    found = {
        "prints_differently": told.get("prints_differently", []),
        "print_unknown": told.get("print_unknown", 0),
        "drawn_differently": sorted({place["page_number"] for place in told.get("drawn_differently", [])}),
        "can_change": ", ".join(parts),
        "altered_after_seal": bool(told.get("altered_after_seal")),
    }
    return found if any(found.values()) else {}
