"""Remarks on documents that can look different than on the signer's page, or that signers see in a prepared form."""

from typing import Any

from paraph.documents.models import Document


def remarks(document: Document) -> dict[str, Any]:
    """Return ``prints_differently``, ``can_change`` and, where there are any, ``print_unknown``, ``drawn_differently``
    and ``altered_after_seal`` of the preflight report; empty where there is nothing to tell."""
    report = document.preflight
    pages, changes = report.get("prints_differently", []), report.get("can_change", [])
    unknown = report.get("print_unknown", 0)
    places = report.get("drawn_differently", [])
    altered = report.get("altered_after_seal", [])
    if not (pages or unknown or changes or places or altered):
        return {}
    others = {"print_unknown": unknown, "drawn_differently": places, "altered_after_seal": altered}
    return {
        "prints_differently": pages,
        **{key: value for key, value in others.items() if value},
        "can_change": changes,
    }


def preparation_facts(document: Document) -> dict[str, Any]:
    """Return the digests of upload and prepared file, and the prepared file's size; empty for a document that is sealed
    as uploaded. Signers see the prepared file, which is a prefix of the sealed one."""
    if document.prepared_sha256 is None:
        return {}
    return {
        "uploaded_pdf_sha256": bytes(document.sha256).hex(),
        "prepared_pdf_sha256": document.shown_sha256.hex(),
        "prepared_pdf_size": document.prepared_size,
    }
