"""What a proof file contains for programs and for people: the attached evidence, and the printed text.

pikepdf and PDFium read it here without a sandbox: whoever verifies a file does so with their own account.
"""

import io
import json
import unicodedata
from collections.abc import Iterable
from ctypes import c_double
from itertools import groupby
from operator import itemgetter
from typing import Any

import pikepdf
import pypdfium2 as pdfium
from pypdfium2 import raw

from paraph.pdf.typesetting.proof_template_data import EVIDENCE

WITHOUT_PURPOSE = "paraph-evidence/1"
"""The format of evidence in proofs from before seals stated a purpose."""
_RIGHT_TO_LEFT = ("R", "AL")
_MARKS = ("LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF", "PDI", "NSM", "BN")
"""Bidirectional classes of letters from right to left, and of characters without a place of their own."""
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

    On a page with words from right to left, PDFium turns lines around, addresses and times too. Of such a page the
    other characters are returned, as they stand in each line from left to right.
    """
    document = pdfium.PdfDocument(pdf)
    try:
        return "".join("".join(_page_text(page.get_textpage()).split()) for page in document)
    finally:
        document.close()


def _page_text(page: pdfium.PdfTextPage) -> str:
    text = str(page.get_text_range())
    if not any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return text
    characters = [chr(raw.FPDFText_GetUnicode(page, index)) for index in range(page.count_chars())]
    lines = groupby(enumerate(characters), key=lambda each: each[1] in "\r\n")
    return "\n".join(_from_left_to_right(page, line) for is_break, line in lines if not is_break)


def _from_left_to_right(page: pdfium.PdfTextPage, line: Iterable[tuple[int, str]]) -> str:
    kept = [
        (_left_edge(page, index), character)
        for index, character in line
        if unicodedata.bidirectional(character) not in (*_RIGHT_TO_LEFT, *_MARKS)
    ]
    return "".join(character for _, character in sorted(kept, key=itemgetter(0)))


def _left_edge(page: pdfium.PdfTextPage, index: int) -> float:
    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(page, index, x, y)
    return x.value
