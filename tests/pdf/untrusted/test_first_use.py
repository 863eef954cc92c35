"""Whatever the readers import or open, they import and open before they are confined: later it would fail at the first
use of a library's call, and a sound file would be refused."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pikepdf import Name

from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.refusal import PdfRefused, SealError
from paraph.pdf.untrusted import sandboxed_draft
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs.worker import JOBS
from paraph.pdf.untrusted.sandbox import Sandbox
from paraph.pdf.untrusted.sandboxed_draft import sandboxed_drafts
from tests.pdf import hostile
from tests.pdf.levels import long_term
from tests.pdf.odd_files import CLASSES, odd_file
from tests.pdf.pdf_factory import Stream, chinese, paper, text
from tests.pdf.sealed_files import RED, WATERMARK, pictures, sealed, timestamping
from tests.pdf.sealing.test_structures import DAMAGED, STRUCTURES
from tests.pdf.untrusted.watching import sitecustomize

pytestmark = pytest.mark.thorough

_XMP = b"""<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" pdf:PDFVersion="1.3"/>
</rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""
_READING: dict[str, list[dict[str, Any]]] = {
    "inspect": [{"page_limit": 100}],
    "find": [{"tags": ["{{sign1}}", "\u05d0", "ﬁ"]}],
    "tags": [{}],
    "texts": [{}, {"text": "{{sign1}}"}],
    "signature_lines": [{}],
    "render": [
        {"page_number": 1, "scale": 0.5, "form": "webp"},
        {"page_number": 1, "scale": 0.5, "form": "png", "printed": True},
        {"page_number": 1, "scale": 0.5, "form": "webp", "part": 7},
        {"page_number": 9999, "scale": 0.5, "form": "png"},
    ],
    "covered_words": [{"places": [(1, 10, 10, 100, 50)]}, {"places": [(9999, 0, 0, 80, 30)]}],
    "text": [{"page_number": 1}],
    "preview": [{"places": []}],
    "compare": [{"first": 1, "resolution": 72}],
}
_PICTURE = b"P5\n612 792\n255\n" + bytes(range(204)) * 3 * 792
_SEALING = {"sealing_seal", "sealing_archive", "sealing_check"}


def with_metadata() -> bytes:
    """A file with a description in XMP, and with a structure that only rewriting mends."""
    metadata = Stream(_XMP, Type=Name.Metadata, Subtype=Name.XML)
    as_described: dict[str, Any] = {"fix_metadata_version": False, "compress_streams": False}
    pdf = paper(text("Signature: ______________", 100, 300), catalog={"Metadata": metadata}, **as_described)
    return b"\xef\xbb\xbf" + pdf.replace(b"startxref", b"startxxxx")


def unlisted_field() -> bytes:
    """A field that no form lists, in a file that only rewriting mends: pikepdf warns of it."""
    pdf = paper("", annotations=[{"Subtype": Name.Widget, "FT": Name.Tx, "Rect": [10, 10, 90, 30]}])
    return b"\xef\xbb\xbf" + pdf.replace(b"startxref", b"startxxxx").replace(b"/Fields", b"/Fiilds")


def colours() -> bytes:
    """A page with a photo, each pixel of another colour, so that its picture is compressed as a photo."""
    pixels = b"".join(bytes((x, y, x ^ y)) for y in range(256) for x in range(256))
    about = {"Type": Name.XObject, "Subtype": Name.Image, "Width": 256, "Height": 256, "BitsPerComponent": 8}
    image = Stream(pixels, **about, ColorSpace=Name.DeviceRGB)
    return paper("500 0 0 500 50 100 cm /I Do", resources={"XObject": {"I": image}})


def dynamic_form() -> bytes:
    """A dynamic XFA form, which the readers refuse."""
    return paper("", catalog={"AcroForm": {"XFA": Stream("<xdp/>"), "Fields": []}, "NeedsRendering": True})


def _files() -> Iterator[tuple[str, bytes]]:
    """Each odd way of writing a file, and whatever else takes a reader down a path of its own."""
    yield from ((name, odd_file(name, 5, 0)) for name in CLASSES)
    yield from ((name, make()) for name, make in {**STRUCTURES, **DAMAGED}.items())
    made: dict[str, Callable[[], bytes]] = {
        "with metadata": with_metadata,
        "unlisted field": unlisted_field,
        "photo": colours,
        "dynamic form": dynamic_form,
        "letters of the machine": partial(chinese, "合同签字"),
        "tags": partial(paper, text("{{sign1}} Signature: ______________", 50, 300)),
        "packed": partial(hostile.many_fonts, 2, 1),
        "noise": hostile.noise,
        "truncated": hostile.truncated,
        "looping pages": hostile.looping_pages,
        "deep arrays": hostile.deep_arrays,
        "counting pages": partial(hostile.counting_pages, 5),
        "sealed": lambda: sealed(paper(text("a", 50, 50))).content,
    }
    yield from ((name, make()) for name, make in made.items())


def _corpus() -> Iterator[tuple[str, bytes]]:
    if corpus := os.environ.get("PARAPH_CORPUS"):
        yield from ((path.name, path.read_bytes()) for path in sorted(Path(corpus).rglob("*.pdf"))[::7])


def _everything() -> dict[str, Any]:
    drawn = {"marks": [Mark(1, 10, 10, 100, 50, RED)], "page_overlay": Overlay(WATERMARK)}
    return {**drawn, "appearances": pictures(), "timestamping": timestamping(), "long_term": long_term()}


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """Yield a function that returns what newly started processes tried to import or open since its last call."""
    os.mkfifo(tmp_path / sitecustomize.PIPE)
    pipe = os.open(tmp_path / sitecustomize.PIPE, os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.syspath_prepend(str(Path(sitecustomize.__file__).parent))
    monkeypatch.syspath_prepend(str(tmp_path))

    def since() -> list[str]:
        with contextlib.suppress(BlockingIOError):  # a process has the pipe open and has nothing to tell
            return os.read(pipe, 1 << 20).decode().splitlines()
        return []

    yield since
    os.close(pipe)


@pytest.fixture
def pool(watched: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    made = Sandbox(1)
    monkeypatch.setattr(sandboxed_draft, "sandbox", lambda: made)
    yield made
    made.close()


@pytest.mark.parametrize("files", [_files, _corpus])
def test_no_job_imports_or_opens_anything_once_it_is_confined(
    pool: Sandbox, watched: Callable[[], list[str]], files: Callable[[], Iterator[tuple[str, bytes]]]
) -> None:
    assert set(JOBS) == {*_READING, *_SEALING}, "a job that is missing here imports unnoticed"
    first_uses: dict[str, list[str]] = {}
    for name, pdf in files():
        for job, several in _READING.items():
            for arguments in several:
                with contextlib.suppress(PdfRefused):
                    pool.call(job, [pdf, _PICTURE] if job == "compare" else pdf, **arguments)
        with contextlib.suppress(SealError):
            sealed(pdf, drafts=sandboxed_drafts, **_everything())
        if told := watched():
            first_uses[name] = told
    assert first_uses == {}


def test_a_first_use_is_noticed(watched: Callable[[], list[str]]) -> None:
    """The watch itself notices a process that imports a module in the middle of a job."""
    script = "import resource as r; r.setrlimit(r.RLIMIT_CPU, r.getrlimit(r.RLIMIT_CPU)); import colorsys"
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": os.pathsep.join(sys.path)})
    assert "import colorsys" in watched()


def test_a_file_with_metadata_is_rewritten_within_the_sandbox() -> None:
    """Only rewriting mends this file; its description stays as it was."""
    inspection = inspect(with_metadata(), page_limit=1)
    assert inspection.method == "normalised" and inspection.prepared
    assert _XMP in inspection.prepared
