"""Real and broken PDFs: every one is read or refused, in time. Set PARAPH_CORPUS to a folder of them."""

import os
import time
from pathlib import Path

import pytest

from paraph.pdf.find import find_tags
from paraph.pdf.inspect import inspect
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.render import render_page
from paraph.pdf.text import text_layer

_SAMPLE = 60  # files; all of them with PARAPH_CORPUS_ALL
_EXPECTED = {"password", "unreadable", "dynamic_xfa", "changes_forbidden", "no_pages", "not_a_pdf"}


def corpus() -> list[Path]:
    folder = os.environ.get("PARAPH_CORPUS", "")
    files = sorted(Path(folder).rglob("*.pdf")) if folder else []
    return files if os.environ.get("PARAPH_CORPUS_ALL") else files[:: max(len(files) // _SAMPLE, 1)]


def test_every_file_is_read_or_refused_in_time() -> None:
    if "PARAPH_CORPUS" not in os.environ:
        pytest.skip("PARAPH_CORPUS names no folder of PDFs")
    files, accepted = corpus(), 0
    for file in files:
        started = time.monotonic()
        reason = read(file.read_bytes())
        assert reason is None or reason in _EXPECTED, f"{file.name}: {reason}"
        assert time.monotonic() - started < 20, file.name
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
