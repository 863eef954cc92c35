"""What there is to say of a document that can look different than on the signer's page, or has one stand in for it."""

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


def preparation_facts(document: Document) -> dict[str, Any]:
    """Of a document that could not be sealed as it was uploaded: both digests. Signers see the prepared file, and its
    bytes, ``prepared_pdf_size`` of them, are the beginning of the sealed one."""
    if document.prepared_sha256 is None:
        return {}
    return {
        "uploaded_pdf_sha256": bytes(document.sha256).hex(),
        "prepared_pdf_sha256": document.shown_sha256.hex(),
        "prepared_pdf_size": document.prepared_size,
    }
