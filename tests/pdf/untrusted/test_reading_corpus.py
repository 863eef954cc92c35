"""Real and broken PDFs: every one is read or refused, in time. Set PARAPH_CORPUS to a folder of them.

Without it a few files made here take their place.
"""

import os
import time
from pathlib import Path

import pikepdf
import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.page_reading import find_tags, render_page, text_layer
from tests.pdf.pdf_factory import paper, text

_SAMPLE = 60  # files; all of them with PARAPH_CORPUS_ALL
_EXPECTED = {"password", "unreadable", "dynamic_xfa", "changes_forbidden", "no_pages", "not_a_pdf"}
_EXPECTED |= {"shown_differently"}  # what cannot be written anew as all readers read it: 9 of the 272 of pdf.js


def corpus() -> dict[str, bytes]:
    folder = os.environ.get("PARAPH_CORPUS")
    if not folder:
        return {
            "plain": paper(text("the", 50, 50)),
            "turned": paper(text("the", 50, 50), "", page={"/Rotate": 90, "/UserUnit": 2}),
            "packed": paper("", text("the", 50, 50), object_stream_mode=pikepdf.ObjectStreamMode.generate),
        }
    files = sorted(Path(folder).rglob("*.pdf"))
    step = 1 if os.environ.get("PARAPH_CORPUS_ALL") else max(len(files) // _SAMPLE, 1)
    return {file.name: file.read_bytes() for file in files[::step]}


def test_every_file_is_read_or_refused_in_time() -> None:
    files, accepted = corpus(), 0
    for name, content in files.items():
        started = time.monotonic()
        reason = read(content)
        assert reason is None or reason in _EXPECTED, f"{name}: {reason}"
        assert time.monotonic() - started < 20, name
        accepted += reason is None
    assert accepted > 0.9 * len(files)


def read(pdf: bytes) -> str | None:
    """The reason of the refusal; what is accepted can be searched and drawn too."""
    try:
        pages = inspect(pdf, page_limit=2000).pages
    except PdfRefused as refused:
        return refused.reason
    find_tags(pdf, ["{{sign1}}", "the"])
    assert render_page(pdf, 1, 1).startswith(b"RIFF")
    layer = text_layer(pdf, len(pages))
    assert (layer.width, layer.height) == pytest.approx(pages[-1], abs=0.01)
    return None
