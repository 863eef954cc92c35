"""Examples for the OpenAPI document: one lease, signed by two people (``examples.json``)."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_EXAMPLES: Json = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))

Examples = dict[str, dict[str, Any]]
"""By operation and name, each a summary and a value."""

ANSWERS: Examples = _EXAMPLES["answers"]
ANSWERS["sendTemplate"] = ANSWERS["createSignatureRequest"]
BODIES: Examples = _EXAMPLES["bodies"]
BODIES["previewSignatureRequest"] = BODIES["createSignatureRequest"]
REFUSALS: dict[str, list[str]] = _EXAMPLES["refusals"]
EVENTS: dict[str, Json] = _EXAMPLES["events"]
TRIED: dict[str, Json] = _EXAMPLES["tried"]  # bodies for the PDF of one empty page
TRIED["previewSignatureRequest"] = TRIED["createSignatureRequest"]
FIELDS: Json = _EXAMPLES["fields"]  # a creation with fields, an approver and copies


def _smallest_pdf() -> str:
    """Return a PDF of one empty page, in ASCII: an upload that the service takes."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
    ]
    text, entries = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        entries += f"{len(text):010d} 00000 n \n"
        text += f"{number} 0 obj{content}endobj\n"
    return f"{text}xref\n0 4\n{entries}trailer<</Size 4/Root 1 0 R>>\nstartxref\n{len(text)}\n%%EOF\n"


SMALLEST_PDF = _smallest_pdf()
BODIES["uploadDocument"] = {"pdf": ("A PDF of one empty page", {"file": SMALLEST_PDF})}
