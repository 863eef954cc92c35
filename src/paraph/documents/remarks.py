"""Remarks on documents that can look different than on the signer's page, or that signers see in a prepared form."""

from typing import Any

from paraph.documents.models import Document


def remarks(document: Document) -> dict[str, Any]:
    """Returns ``prints_differently``, ``can_change`` and, if pages were not compared, ``print_unknown`` of the
    preflight report; empty for a document that always looks the same."""
    report = document.preflight
    pages, changes = report.get("prints_differently", []), report.get("can_change", [])
    unknown = report.get("print_unknown", 0)
    if not (pages or unknown or changes):
        return {}
    uncompared = {"print_unknown": unknown} if unknown else {}
    return {"prints_differently": pages, **uncompared, "can_change": changes}


def preparation_facts(document: Document) -> dict[str, Any]:
    """Returns the digests of upload and prepared file, and the prepared file's size; empty for a document that is
    sealed as uploaded. Signers see the prepared file, which is a prefix of the sealed one."""
    if document.prepared_sha256 is None:
        return {}
    return {
        "uploaded_pdf_sha256": bytes(document.sha256).hex(),
        "prepared_pdf_sha256": document.shown_sha256.hex(),
        "prepared_pdf_size": document.prepared_size,
    }
