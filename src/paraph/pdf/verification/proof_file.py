"""What a proof file contains for programs and for people: the attached evidence, and the printed text.

pikepdf and PDFium read it here without a sandbox: whoever verifies a file does so with their own account.
"""

import io
import json
import unicodedata
from ctypes import c_double
from itertools import groupby
from typing import Any

import pikepdf
import pypdfium2 as pdfium
from pypdfium2 import raw

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
    """Returns the text of all pages without white space.

    PDFium turns a line around in which most words are written from right to left, addresses and times too. Of a line
    with such words the others are returned, in the order in which they stand from left to right.
    """
    document = pdfium.PdfDocument(pdf)
    try:
        return "".join("".join(_page_text(page.get_textpage()).split()) for page in document)
    finally:
        document.close()


def _page_text(page: pdfium.PdfTextPage) -> str:
    text = page.get_text_range()
    if not any(map(_is_right_to_left, text)):
        return str(text)
    characters = [chr(raw.FPDFText_GetUnicode(page, index)) for index in range(page.count_chars())]
    lines = groupby(enumerate(characters), key=lambda each: each[1] not in "\r\n")
    return "\n".join(_line(page, list(line)) for is_text, line in lines if is_text)


def _line(page: pdfium.PdfTextPage, characters: list[tuple[int, str]]) -> str:
    if not any(_is_right_to_left(character) for _, character in characters):
        return "".join(character for _, character in characters)
    kept = [
        (_left_edge(page, index), character)
        for index, character in characters
        if not character.isspace() and not _is_right_to_left(character)
    ]
    return "".join(character for _, character in sorted(kept, key=lambda each: each[0]))


def _left_edge(page: pdfium.PdfTextPage, index: int) -> float:
    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(page, index, x, y)
    return x.value


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")
