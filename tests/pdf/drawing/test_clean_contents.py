"""Contents that were found to leave nothing open are not read again, and what is drawn is the same."""

import pikepdf
import pytest

from paraph.pdf.sealing.seal import Mark, Overlay
from paraph.pdf.structure.contents_grammar import ContentsDecoder
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import check_plain_form
from paraph.pdf.untrusted.jobs.upload_checks.values import NotPlain
from tests.pdf.drawing.test_draw import colour_at, page_of
from tests.pdf.pdf_factory import paper, saved, text
from tests.pdf.sealed_files import RED, WATERMARK, pictures, sealed

DRAWN = {"appearances": pictures(), "marks": [Mark(1, 100, 100, 100, 50, RED)], "page_overlay": Overlay(WATERMARK)}


def clean(pdf: bytes) -> bool:
    try:
        return check_plain_form(PdfReader(pdf), scanned=False).clean_contents
    except NotPlain:
        return False


def with_contents(*contents: bytes) -> bytes:
    document = pikepdf.new()
    for each in contents:
        document.add_blank_page(page_size=(300, 300)).obj.Contents = document.make_stream(each)
    return saved(document)


@pytest.mark.parametrize(
    "last", [b"q", b"Q", b"BT", b"/P BMC", b"(abc", b"foo", b"0 0 m", b"q " * 300], ids=lambda each: each[:8].decode()
)
def test_one_page_that_is_not_clean_is_enough(last: bytes) -> None:
    assert clean(with_contents(b"q Q", b"0 0 5 5 re f"))
    assert not clean(with_contents(b"q Q", b"0 0 5 5 re f", last))


def test_contents_that_are_no_streams_are_not_clean() -> None:
    document = pikepdf.new()
    document.add_blank_page(page_size=(300, 300)).obj.Contents = pikepdf.Array([])
    assert clean(saved(document))
    document.pages[0].obj.Contents = document.make_indirect(pikepdf.Dictionary())
    assert not clean(saved(document))


def test_a_file_that_refers_beyond_its_last_object_is_not_clean() -> None:
    pdf = paper(text("Page", 72, 700))
    last = PdfReader(pdf).crossreference.next_number - 1
    assert clean(pdf.replace(b"startxref", b"%% %d 0 R\nstartxref" % last))
    assert not clean(pdf.replace(b"startxref", b"%% %d 0 R\nstartxref" % (last + 1)))


def test_what_is_drawn_is_the_same_and_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = paper(*[text(f"Page {number}", 72, 700) for number in range(4)])
    assert clean(pdf)
    read = sealed(pdf, **DRAWN).content

    def refuse(*_: object) -> None:
        raise AssertionError("the contents were read")

    monkeypatch.setattr(ContentsDecoder, "decode", refuse)
    with pytest.raises(AssertionError):
        sealed(pdf, **DRAWN)
    unread = sealed(pdf, **DRAWN, clean_contents=True).content
    assert revision(unread, pdf) == revision(read, pdf)


def revision(content: bytes, pdf: bytes) -> bytes:
    """Return what was appended, up to the dictionary of the signature, whose value differs each time."""
    return content[len(pdf) :].partition(b"/ByteRange")[0]


def test_a_form_made_of_the_file_is_read_whatever_was_found() -> None:
    """The finding holds for the file itself; its repaired form may have other contents."""
    damaged = with_contents(b"0 1 0 rg 0 0 300 300 re f (swallows what follows").replace(b"startxref", b"startxrex")
    found = sealed(damaged, **DRAWN, clean_contents=True)
    assert found.method != "incremental" and colour_at(page_of(found.content), 150, 125) == (255, 0, 0)
