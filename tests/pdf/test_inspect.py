"""The check of an upload: what is taken, what is refused and with which sentence."""

import pytest

from paraph.pdf.inspect import inspect
from paraph.pdf.refusal import PdfRefused
from tests.pdf.papers import paper, text


def refusal(pdf: bytes, page_limit: int = 10) -> PdfRefused:
    with pytest.raises(PdfRefused) as caught:
        inspect(pdf, page_limit=page_limit)
    assert caught.value.code == "validation_error"
    return caught.value


def test_pages_are_measured_as_the_reader_sees_them() -> None:
    page = {"/CropBox": [10, 20, 310, 420], "/Rotate": 90, "/UserUnit": 2}
    assert inspect(paper(text("a", 50, 50), page=page), page_limit=10).pages == [(800, 600)]


def test_what_is_no_pdf_is_refused() -> None:
    assert refusal(b"hello").reason == "not_a_pdf"
    assert refusal(b"").reason == "not_a_pdf"
    assert refusal(b"%PDF-1.7\nhello").reason == "unreadable"
