"""Real and broken PDFs: every one is read or refused, in time. Set PARAPH_CORPUS to a folder of them.

Without it a few files made here take their place.
"""

import os
import time
from pathlib import Path

import pikepdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from pikepdf import ObjectStreamMode

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.page_reading import find_tags, list_signature_lines, list_tags, render_page, text_layer
from tests.pdf.pdf_factory import paper, text

_EXPECTED = {"password", "unreadable", "dynamic_xfa", "changes_forbidden", "no_pages", "not_a_pdf"}
_EXPECTED |= {"shown_differently"}  # what cannot be written anew as all readers read it: 9 of the 272 of pdf.js
SEEDS = [
    paper(text("{{sign1}}", 100, 300), page={"/Rotate": 90, "/CropBox": [0, 0, 400, 400]}),
    paper(*[text("{{sign1}} Signature: ________", 100, 300)] * 3, object_stream_mode=ObjectStreamMode.generate),
]
WORDS = [b"/Kids", b"/Count", b"/Parent", b"/Length", b"/MediaBox", b"/Contents", b"obj", b"endobj", b"R", b"0", b"-1"]
VALUES = [b"", b"-1", b"99999999999", b"3 0 R", b"null", b"[", b">>", b"/Pages", b"1e400", b"()", b"%"]


def corpus(sample: int = 60) -> dict[str, bytes]:
    """Return about ``sample`` files of the corpus; all of them with PARAPH_CORPUS_ALL."""
    folder = os.environ.get("PARAPH_CORPUS")
    if not folder:
        return {
            "plain": paper(text("the", 50, 50)),
            "turned": paper(text("the", 50, 50), "", page={"/Rotate": 90, "/UserUnit": 2}),
            "packed": paper("", text("the", 50, 50), object_stream_mode=pikepdf.ObjectStreamMode.generate),
        }
    files = sorted(Path(folder).rglob("*.pdf"))
    step = 1 if os.environ.get("PARAPH_CORPUS_ALL") else max(len(files) // sample, 1)
    return {file.name: file.read_bytes() for file in files[::step]}


@pytest.mark.parametrize("sample", [20, pytest.param(60, marks=pytest.mark.thorough)])
def test_every_file_is_read_or_refused_in_time(caplog: pytest.LogCaptureFixture, sample: int) -> None:
    """No file is a fault of the service, which would log a fault."""
    files, accepted = corpus(sample), 0
    for name, content in files.items():
        started = time.monotonic()
        reason = read(content)
        assert reason is None or reason in _EXPECTED, f"{name}: {reason}"
        assert time.monotonic() - started < 20, name
        accepted += reason is None
    assert accepted > 0.9 * len(files) and caplog.records == []


def read(pdf: bytes) -> str | None:
    """Return the reason of a refusal; a file that is accepted can be searched and drawn, too."""
    try:
        pages = inspect(pdf, page_limit=2000).pages
    except PdfRefused as refused:
        return refused.reason
    find_tags(pdf, ["{{sign1}}", "the"])
    assert render_page(pdf, 1, 1).startswith(b"RIFF")
    layer = text_layer(pdf, len(pages))
    assert (layer.width, layer.height) == pytest.approx(pages[-1], abs=0.01)
    return None


@some.composite
def damaged(draw: some.DrawFn) -> bytes:
    pdf = bytearray(draw(some.sampled_from(SEEDS)))
    for _ in range(draw(some.integers(1, 6))):
        kind = draw(some.sampled_from(["byte", "cut", "word", "double"]))
        place = draw(some.integers(8, max(len(pdf) - 1, 8)))
        if kind == "byte":
            pdf[place : place + 1] = bytes([draw(some.integers(0, 255))])
        elif kind == "cut":
            del pdf[place : place + draw(some.integers(1, 200))]
        elif kind == "double":
            pdf[place:place] = pdf[place : place + draw(some.integers(1, 200))]
        else:
            word = draw(some.sampled_from(WORDS))
            found = pdf.find(word, place)
            if found >= 0:
                pdf[found : found + len(word)] = draw(some.sampled_from(VALUES + WORDS))
    return bytes(pdf)


@pytest.mark.thorough
@settings(max_examples=150, deadline=None, derandomize=True)
@given(damaged())
def test_damaged_files(pdf: bytes) -> None:
    for read in (
        lambda: inspect(pdf, page_limit=50),
        lambda: find_tags(pdf, ["{{sign1}}"]),
        lambda: list_tags(pdf),
        lambda: list_signature_lines(pdf),
        lambda: render_page(pdf, 1, 0.2),
        lambda: text_layer(pdf, 1),
    ):
        try:
            read()
        except PdfRefused as refused:
            assert refused.message.endswith(".")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(some.lists(some.text(min_size=1, max_size=30), max_size=5))
def test_any_text_may_be_a_tag(tags: list[str]) -> None:
    found = find_tags(SEEDS[1], tags)
    assert found.keys() <= set(tags)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(some.text(some.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20))
def test_printable_ascii_is_found_where_it_is_drawn(tag: str) -> None:
    drawn = "".join(f"\\{letter}" if letter in "()\\" else letter for letter in tag)
    place = find_tags(paper(text(drawn, 100, 300)), [tag])[tag]
    assert 99 < place.x < 106
    assert 295 < place.y < 312
