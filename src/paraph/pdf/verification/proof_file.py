"""What a proof file contains for programs and for people: the attached evidence, and the printed text.

pikepdf and PDFium read it: for a file of a stranger, within a sandboxed process.
"""

import contextlib
import io
import unicodedata
import zlib
from collections.abc import Iterable
from ctypes import c_double
from itertools import groupby
from operator import itemgetter
from typing import Any

import pikepdf
import pypdfium2 as pdfium
from pypdfium2 import raw

from paraph.kernel import bounded_json
from paraph.pdf.typesetting.proof import EVIDENCE

WITHOUT_PURPOSE = "paraph-evidence/1"
"""The format of evidence in proofs from before seals stated a purpose."""
_RIGHT_TO_LEFT = ("R", "AL")
_MARKS = ("LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF", "PDI", "NSM", "BN")
"""Bidirectional classes of letters from right to left, and of characters without a place of their own."""
_LARGEST = 16 << 20
_MOST_PARTS, _MOST_VALUES = 200_000, 2_000_000  # of thousands of signers
_MOST_CHARACTERS = 4_000_000  # of the pages of a proof
_FORMATS = (WITHOUT_PURPOSE, "paraph-evidence/2", "paraph-evidence/3")


class UnreadableEvidence(ValueError):
    """Evidence is attached, but takes too much to be read; the message says why."""


def evidence_of(pdf: bytes) -> dict[str, Any] | None:
    """Return the evidence attached to a file; ``None`` where there is none. Raises :class:`UnreadableEvidence`."""
    try:
        with pikepdf.open(io.BytesIO(pdf)) as document:
            content = _inflated(document.attachments[EVIDENCE].get_file().obj)
        evidence = bounded_json.loads(content, _MOST_PARTS, comma_limit=_MOST_VALUES)
    except (UnreadableEvidence, MemoryError):
        raise
    except bounded_json.TooManyError as error:
        raise UnreadableEvidence("it has too many values") from error
    except bounded_json.TooDeepError as error:
        raise UnreadableEvidence("its values are nested too deeply") from error
    except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return None
    return evidence if isinstance(evidence, dict) and evidence.get("format") in _FORMATS else None


def _inflated(stream: pikepdf.Object) -> bytes:
    """Return the content of the attached file, which proofs hold deflated once at most."""
    filters = stream.get(pikepdf.Name.Filter)
    names = list(filters) if isinstance(filters, pikepdf.Array) else [] if filters is None else [filters]
    if names not in ([], [pikepdf.Name.FlateDecode]) or pikepdf.Name.DecodeParms in stream:
        raise UnreadableEvidence("it is packed otherwise than evidence is")
    content = stream.read_raw_bytes()
    if names:
        content = zlib.decompressobj().decompress(content, _LARGEST + 1)
    if len(content) > _LARGEST:
        raise UnreadableEvidence(f"it is longer than {_LARGEST >> 20} MB")
    return content


def printed_text(pdf: bytes) -> str:
    """Return the text of all pages without white space. Raises :class:`UnreadableEvidence` for too much of it.

    On a page with words from right to left, PDFium turns lines around, addresses and times too. Of such a page the
    other characters are returned, as they stand in each line from left to right.
    """
    document = pdfium.PdfDocument(pdf)
    pages, left = [], _MOST_CHARACTERS
    try:
        for page in document:
            with contextlib.closing(page), contextlib.closing(page.get_textpage()) as text:
                left -= text.count_chars()
                if left < 0:
                    raise UnreadableEvidence("its pages have too much text")
                pages.append("".join(_page_text(text).split()))
    finally:
        document.close()
    return "".join(pages)


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
