"""What is seen of a file, and where its words stand, does not depend on what the same process has read before, perhaps
for somebody else."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.sandbox import Sandbox
from tests.pdf.pdf_factory import paper, text
from tests.pdf.untrusted.test_reading_corpus import corpus

_NARROW = Array([150] * 95)


def in_a_font_from_elsewhere(words: str, **entries: Any) -> bytes:
    """The words in a font that is neither in the file nor on the machine, so that PDFium takes another for it."""

    def prepare(document: pikepdf.Pdf) -> None:
        font = Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name.Elsewhere, **entries)
        document.pages[0].obj.Resources.Font.F1 = font

    return paper(text(words, 100, 300), prepare=prepare)


@cache
def squeezed() -> bytes:
    """Wants its letters to be narrow."""
    looks = Dictionary(Type=Name.FontDescriptor, FontName=Name.Elsewhere, Flags=32, FontBBox=Array([0, -200, 999, 900]))
    return in_a_font_from_elsewhere("WWW", FirstChar=32, LastChar=126, Widths=_NARROW, FontDescriptor=looks)


def test_letters_are_as_wide_after_a_file_that_wants_them_narrow(sandbox: Sandbox) -> None:
    plain = in_a_font_from_elsewhere("I pay 1,000 EUR")
    alone = seen(sandbox, plain)
    seen(sandbox, squeezed())
    assert seen(sandbox, plain) == alone


@pytest.mark.thorough
def test_what_is_seen_is_the_same_in_whatever_order(sandbox: Sandbox) -> None:
    files = {**corpus(), "from elsewhere": in_a_font_from_elsewhere("I pay 1,000 EUR"), "squeezed": squeezed()}
    forward = _all_seen(sandbox, files, files)
    backward = _all_seen(sandbox, files, reversed(files))
    assert [name for name in files if forward[name] != backward[name]] == []


def seen(pool: Sandbox, pdf: bytes) -> tuple[object, ...]:
    """The first page as it is drawn, its words with their places, and where a tag is found."""
    _, picture = pool.call("render", pdf, page_number=1, scale=1, form="png")
    words, _ = pool.call("text", pdf, page_number=1)
    found, _ = pool.call("find", pdf, tags=["pay", "the"])
    return picture, words, found


def _all_seen(pool: Sandbox, files: dict[str, bytes], order: Iterable[str]) -> dict[str, object]:
    return {name: _seen_or_refused(pool, files[name]) for name in order}


def _seen_or_refused(pool: Sandbox, pdf: bytes) -> object:
    try:
        return seen(pool, pdf)
    except PdfRefused as refused:
        return refused.reason
