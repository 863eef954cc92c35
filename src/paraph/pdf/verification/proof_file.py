"""What a proof file contains for programs and for people: the attached evidence, and the printed text.

pikepdf and PDFium read it here without a sandbox: whoever verifies a file does so with their own account.
"""

import io
import json
from typing import Any

import pikepdf
import pypdfium2 as pdfium

from paraph.pdf.typesetting.proof_template_data import EVIDENCE

WITHOUT_PURPOSE = "paraph-evidence/1"
"""The format of evidence in proofs from before seals stated a purpose."""
_FORMATS = (WITHOUT_PURPOSE, "paraph-evidence/2", "paraph-evidence/3")


def evidence_of(pdf: bytes) -> dict[str, Any] | None:
    """Returns the evidence attached to a proof file; None where ``pdf`` is no proof. Raises nothing."""
    try:
        with pikepdf.open(io.BytesIO(pdf)) as document:
            evidence = json.loads(document.attachments[EVIDENCE].get_file().read_bytes())
    except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return None
    return evidence if isinstance(evidence, dict) and evidence.get("format") in _FORMATS else None


def printed_text(pdf: bytes) -> str:
    """Returns the text of all pages without white space."""
    document = pdfium.PdfDocument(pdf)
    try:
        return "".join("".join(page.get_textpage().get_text_range().split()) for page in document)
    finally:
        document.close()
