"""What there is to say of a document that can look different than on the signer's page (``preflight``)."""

from typing import Any

from paraph.documents.models import Document


def remarks(document: Document) -> dict[str, Any]:
    """``prints_differently``, ``can_change`` and, where pages were not compared, ``print_unknown``, as in the preflight
    report. Empty where there is nothing to say."""
    told = document.preflight
    pages, words = told.get("prints_differently", []), told.get("can_change", [])
    unknown = told.get("print_unknown", 0)
    if not (pages or unknown or words):
        return {}
    of_unknown = {"print_unknown": unknown} if unknown else {}
    return {"prints_differently": pages, **of_unknown, "can_change": words}
