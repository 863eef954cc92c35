"""What a process that reads untrusted files sees of them, of the machine's files, and of files that it has read before;
and the encodings that it knows although it can load nothing any more."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pikepdf import Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.sandbox import Sandbox
from tests.pdf import hostile
from tests.pdf.pdf_factory import chinese, paper, text
from tests.pdf.processes import eventually, worker_of
from tests.pdf.untrusted.test_reading_corpus import corpus

PDF = paper(text("{{sign1}}", 100, 300))
_ENCODINGS = ["utf-8-sig", "UTF-8-SIG", "utf-7", "cp1250", "iso8859-2", "shift_jis", "koi8-r", "pdfdoc"]
_CLOSED = """
import sys
from paraph.pdf.untrusted.jobs.serving import look_up_encodings
look_up_encodings()
sys.path.clear(), sys.meta_path.clear(), sys.path_hooks.clear()
for encoding in sys.argv[1:]:
    print(b"ab".decode(encoding))
"""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Yield a pool of one process, which reads everything."""
    with contextlib.closing(Sandbox(1)) as pool:
        yield pool


def test_a_process_keeps_nothing_of_a_file_that_it_has_read(sandbox: Sandbox) -> None:
    """The next file may be another customer's."""
    worker = worker_of(sandbox)
    for file in (PDF, hostile.nested_forms(3), PDF[:-200], b"%PDF-1.7\n"):
        for job, arguments in (("inspect", {"page_limit": 9}), ("find", {"tags": ["a"]})):
            with contextlib.suppress(PdfRefused):
                sandbox.call(job, file, **arguments)
            if os.geteuid() == 0:  # only root may read this
                assert eventually(lambda: "memfd:pdf" not in Path(f"/proc/{worker}/smaps").read_text())


def test_fonts_of_the_machine_are_used_inside(sandbox: Sandbox) -> None:
    """A file without fonts of its own looks the same as to a reader that nothing confines."""
    pdf = chinese("合同签字")
    _, confined = sandbox.call("render", pdf, page_number=1, scale=1, form="png")
    script = (
        "import sys; from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile;"
        "from paraph.pdf.untrusted.jobs.page_pictures import render;"
        "file = UntrustedFile(content=sys.stdin.buffer.read());"
        "sys.stdout.buffer.write(render(file, 1, 1, 'png')[1])"
    )
    free = subprocess.run([sys.executable, "-c", script], input=pdf, capture_output=True, check=True).stdout
    assert confined == free


def in_a_font_from_elsewhere(words: str, **entries: Any) -> bytes:
    """The words in a font that is neither in the file nor on the machine, so that PDFium takes another for it."""

    font = {"Type": Name.Font, "Subtype": Name.TrueType, "BaseFont": Name.Elsewhere, **entries}
    return paper(text(words, 100, 300), resources={"Font": {"F1": font}})


@cache
def squeezed() -> bytes:
    """A page whose font asks for narrow letters."""
    looks = {"Type": Name.FontDescriptor, "FontName": Name.Elsewhere, "Flags": 32, "FontBBox": [0, -200, 999, 900]}
    return in_a_font_from_elsewhere("WWW", FirstChar=32, LastChar=126, Widths=[150] * 95, FontDescriptor=looks)


def test_letters_are_as_wide_after_a_file_that_wants_them_narrow(sandbox: Sandbox) -> None:
    plain = in_a_font_from_elsewhere("I pay 1,000 EUR")
    alone = seen(sandbox, plain)
    seen(sandbox, squeezed())
    assert seen(sandbox, plain) == alone


@pytest.mark.thorough
def test_what_is_seen_is_the_same_in_whatever_order(sandbox: Sandbox) -> None:
    files = {**corpus(), "from elsewhere": in_a_font_from_elsewhere("I pay 1,000 EUR"), "squeezed": squeezed()}
    forward = {name: _seen_or_refused(sandbox, pdf) for name, pdf in files.items()}
    backward = {name: _seen_or_refused(sandbox, files[name]) for name in reversed(files)}
    assert [name for name in files if forward[name] != backward[name]] == []


def seen(pool: Sandbox, pdf: bytes) -> tuple[object, ...]:
    """Return the first page as it is drawn, its words with their places, and where tags are found."""
    _, picture = pool.call("render", pdf, page_number=1, scale=1, form="png")
    words, _ = pool.call("text", pdf, page_number=1)
    found, _ = pool.call("find", pdf, tags=["pay", "the"])
    return picture, words, found


def _seen_or_refused(pool: Sandbox, pdf: bytes) -> object:
    try:
        return seen(pool, pdf)
    except PdfRefused as refused:
        return refused.reason


def test_an_encoding_is_known_where_nothing_can_be_loaded() -> None:
    """Metadata, for example, is read as UTF-8 with a byte order mark."""
    command = [sys.executable, "-c", _CLOSED, *_ENCODINGS]
    said = subprocess.run(command, capture_output=True, check=False, text=True)
    assert said.stdout.split() == ["ab"] * len(_ENCODINGS), said.stderr
