"""The check of an upload: what is taken, what is refused and with which sentence, and what the preflight tells."""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs import inspect_job
from paraph.pdf.untrusted.jobs.inspect_job import read_by_own_reader, read_by_pikepdf
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import fast_scan
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import Opinion, second_opinion
from paraph.pdf.untrusted.page_reading import find_tags, render_page
from paraph.pdf.untrusted.sandbox import Sandbox, SandboxLimits, configure
from tests.pdf import hostile, refused
from tests.pdf.odd_files import CLASSES, odd_files
from tests.pdf.pdf_factory import Stream, paper, saved, text
from tests.pdf.structures import a_file_of_each_structure
from tests.pdf.untrusted.test_reading_corpus import corpus

PLAIN = paper(text("a", 50, 50))


@pytest.fixture
def strict() -> Iterator[None]:
    """Set stricter limits, so that the tests take less time."""
    configure(1, SandboxLimits(memory=400 << 20, processor_seconds=3))
    yield
    configure(2)


@pytest.fixture(scope="module")
def one_process() -> Iterator[Sandbox]:
    with closing(Sandbox(1)) as pool:
        yield pool


def refusal(call: Callable[..., Any], *arguments: Any, **options: Any) -> PdfRefused:
    with pytest.raises(PdfRefused) as caught:
        call(*arguments, **options)
    assert caught.value.code == "validation_error"
    assert caught.value.message.endswith(".")
    return caught.value


def preflight(pdf: bytes) -> dict[str, Any]:
    return inspect(pdf, page_limit=10).preflight


def test_a_plain_file() -> None:
    inspection = inspect(PLAIN, page_limit=10)
    assert inspection.pages == [(595, 842)]
    assert inspection.preflight == {
        "page_count": 1,
        "sizes": [{"width": 595, "height": 842, "pages": 1}],
        "rotated_pages": 0,
        "version": "1.3",
        "encryption": None,
        "signatures": {"count": 0, "certification": None, "usage_rights": False},
        "forms": {"fields": 0, "xfa": False},
        "scripts": 0,
        "launch_actions": 0,
        "submit_actions": 0,
        "attachments": 0,
        "prints_differently": [],
        "print_unknown": 0,
        "can_change": [],
        "drawn_differently": [],
        "repairs": [],
        "method": "incremental",
    }


def test_both_ways_to_look_tell_the_same() -> None:
    """They agree on what our own reader takes: plain tables, streams, several revisions, and real files if any."""
    read_by_own = 0
    for name, pdf in [*corpus().items(), *enumerate(a_file_of_each_structure())]:
        with UntrustedFile(content=pdf) as file, suppress(PdfRefused):
            scanned = fast_scan(file)
            simple = scanned is not None and scanned.passive and not scanned.may_draw_annotations
            findings = read_by_own_reader(scanned.reader, page_limit=2000) if scanned and simple else None
            if scanned and findings and second_opinion(scanned.reader, file) is Opinion.SAME:
                read_by_own += 1
                found = read_by_pikepdf(file, page_limit=2000, scanned=None)
                assert found.content == b"", name
                assert (found.plain, found.pages) == (findings.plain, findings.pages), name
                assert {**findings.facts, "repairs": 0} == {**found.facts, "repairs": 0}, name
    assert read_by_own >= 5


def test_pages_are_measured_as_the_reader_sees_them() -> None:
    page = {"/CropBox": [10, 20, 310, 420], "/Rotate": 90, "/UserUnit": 2}
    inspection = inspect(paper(text("a", 50, 50), "", page=page), page_limit=10)
    assert inspection.pages == [(800, 600), (800, 600)]
    assert inspection.preflight["sizes"] == [{"width": 800, "height": 600, "pages": 2}]
    assert inspection.preflight["rotated_pages"] == 2


@pytest.mark.parametrize("junk", [b"", b"junk before\n", b"x" * 1000])
def test_the_mark_of_a_pdf_stands_within_the_first_kilobyte(junk: bytes) -> None:
    assert inspect(junk + PLAIN, page_limit=10).pages


def test_an_owner_password_is_told() -> None:
    with pikepdf.open(io.BytesIO(PLAIN)) as document:
        owned = saved(document, encryption=pikepdf.Encryption(user="", owner="o", R=6))
    encryption = preflight(owned)["encryption"]
    assert (encryption["method"], encryption["bits"]) == ("aesv3", 256)
    assert encryption["permissions"]["print_highres"] is True


_XFA = {"XFA": Stream("<xdp/>"), "Fields": []}


def test_static_xfa_is_told() -> None:
    assert preflight(paper("", catalog={"AcroForm": _XFA}))["forms"] == {"fields": 0, "xfa": True}


def signed(certification: int | None = None, lock: int | None = None) -> bytes:
    """A file with the structure of a signature, which reading does not verify."""

    def prepare(document: pikepdf.Pdf) -> None:
        value = Dictionary(Type=Name.Sig, Filter=Name("/Adobe.PPKLite"), ByteRange=Array([0, 1, 2, 3]))
        field = Dictionary(FT=Name.Sig, T="Signature1", V=document.make_indirect(value))
        if certification:
            parameters = Dictionary(Type=Name.TransformParams, P=certification, V=Name("/1.2"))
            value.Reference = Array([Dictionary(TransformMethod=Name.DocMDP, TransformParams=parameters)])
            document.Root.Perms = Dictionary(DocMDP=field.V)
        if lock:
            field.Lock = Dictionary(Type=Name.SigFieldLock, Action=Name.All, P=lock)
        name = Dictionary(T="a", FT=Name.Tx)
        group = Dictionary(T="group", Kids=Array([document.make_indirect(field), document.make_indirect(name)]))
        group = document.make_indirect(group)
        for kid in group.Kids:
            kid.Parent = group
        document.Root.AcroForm = Dictionary(Fields=Array([group]), SigFlags=3)

    return paper("", prepare=prepare)


def test_earlier_signatures_are_told() -> None:
    assert preflight(signed())["signatures"] == {"count": 1, "certification": None, "usage_rights": False}
    assert preflight(signed())["forms"]["fields"] == 2


def test_repairs_are_told() -> None:
    (repair, *_) = preflight(PLAIN.replace(b"startxref", b"startxerf"))["repairs"]
    assert "<" not in repair
    assert "/" not in repair


_CODE = refused.with_integrity_code()
REFUSED: dict[str, list[bytes]] = {
    "not_a_pdf": [b"", b"hello", b"%!PS-Adobe-3.0\n", b"x" * 1024 + PLAIN],
    "unreadable": [hostile.truncated(), hostile.noise()],
    "encrypted_for_certificates": [
        refused.for_certificates(name) for name in (b"/Adobe.PubSec", b"/Entrust.PPKEF", b"/Adobe#2EPubSec")
    ],
    "unknown_encryption": [refused.encrypted_by(b"/FileOpen"), refused.of_unknown_version()],
    "password": [refused.locked()],
    "integrity_code": [  # spelled differently, lost in an update, or without its salt
        *(_CODE.replace(b"/AuthCode", name) for name in (b"/AuthCode", b"/Auth#43ode", b"/Forgotten")),
        _CODE.replace(b"/KDFSalt", b"/Unknown"),
    ],
    "no_pages": [refused.without_pages()],
    "too_many_pages": [paper(*[""] * 11), hostile.counting_pages(1_000_000)],
    "unclear_page_count": [refused.number_for_page_two(), hostile.counting_pages(3)],
    "page_not_shown": [refused.font_for_page_two(), refused.page_two_of_another_type()],
    "damaged": [  # one reader opens these, and another does not
        *(refused.page_tree_without_kids(), refused.numbered_kids(), refused.catalog_of_another_generation()),
        *(refused.catalog_in_the_trailer(), hostile.looping_pages(), hostile.deep_arrays()),
    ],
    "dynamic_xfa": [paper("", catalog={"AcroForm": _XFA, "NeedsRendering": True})],
    "changes_forbidden": [signed(**{how: level}) for how in ("certification", "lock") for level in (1, 2, 3)],
}
_SAID = {
    "password": "The PDF requires a password to open.",
    "too_many_pages": "The PDF has 11 pages; at most 10 are allowed.",
    "page_not_shown": "Page 2 of the PDF cannot be shown.",
    "damaged": "The PDF is damaged, so that some readers cannot open it. Save it again with the program that made it.",
}
_FACTS = {"too_many_pages": {"count": 11, "limit": 10}, "page_not_shown": {"page": 2}}


@pytest.mark.parametrize("reason", REFUSED)
def test_the_reason_is_told(reason: str, caplog: pytest.LogCaptureFixture) -> None:
    """A refusal is no fault of the service, which has nothing to log."""
    files = REFUSED[reason]
    assert len(set(files)) == len(files)
    found = [refusal(inspect, pdf, page_limit=10) for pdf in files]
    assert {each.reason for each in found} == {reason}
    assert found[0].message == _SAID.get(reason, found[0].message)
    assert found[0].facts == _FACTS.get(reason, {})
    assert caplog.records == []


@pytest.mark.parametrize("job", ["inspect", "render", "find", "text"])
@pytest.mark.parametrize("before", [refused.locked(), refused.for_certificates(), hostile.noise(), paper("")])
def test_no_reason_is_left_over_from_the_file_before(one_process: Sandbox, job: str, before: bytes) -> None:
    """PDFium keeps the last error of its process; a file without pages sets none."""
    arguments: dict[str, dict[str, Any]] = {
        "inspect": {"page_limit": 10},
        "render": {"page_number": 1, "scale": 1, "form": "png"},
        "find": {"tags": ["a"]},
        "text": {"page_number": 1},
    }
    for expected in ("no_pages", "password", "encrypted_for_certificates", "unreadable"):
        try:
            one_process.call(job, before, **arguments[job])
        except PdfRefused:
            assert before != paper("")
        assert refusal(one_process.call, job, REFUSED[expected][-1], **arguments[job]).reason == expected


@pytest.mark.thorough
def test_no_odd_file_is_a_fault_of_the_service(caplog: pytest.LogCaptureFixture) -> None:
    odd = [refused.field_with_a_name_not_in_utf_8(), *(pdf for _, pdf in odd_files(3 * len(CLASSES)))]
    for pdf in odd:
        with suppress(PdfRefused):
            inspect(pdf, page_limit=100)
    assert caplog.records == []


BOMBS: dict[str, Callable[[], bytes]] = {
    "nested forms": hostile.nested_forms,
    "hidden bomb": hostile.inflating,
    "bomb on the page": lambda: hostile.inflating(on_page=True),
    "bomb in a bomb": lambda: hostile.inflating(filters=2),
    "a tebibyte": lambda: hostile.inflating(1024, filters=3),
    "a page of many streams": lambda: hostile.many_contents(6, 100),
    "a page of one stream many times": lambda: hostile.many_contents(60, 10, shared=True),
    "many pages of one stream": lambda: hostile.many_contents(1, 60, pages=50, shared=True),
    "many streams of the file": hostile.many_fonts,
}
FIRST_BOMBS = ("a tebibyte",)


@pytest.mark.parametrize(
    "name", [name if name in FIRST_BOMBS else pytest.param(name, marks=pytest.mark.thorough) for name in BOMBS]
)
def test_bombs_are_refused_in_time_and_the_next_call_works(strict: None, name: str) -> None:
    bomb = BOMBS[name]()
    started = time.monotonic()
    assert refusal(inspect, bomb, page_limit=100).reason == "too_complex"
    assert time.monotonic() - started < 25
    assert inspect(PLAIN, page_limit=10).pages


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["nested forms", "bomb on the page"])
def test_searching_and_drawing_survive_bombs_too(strict: None, name: str) -> None:
    pdf = BOMBS[name]()
    assert refusal(find_tags, pdf, ["a"]).reason == "too_complex"
    assert refusal(render_page, pdf, 1, 1).reason == "too_complex"


@pytest.mark.thorough
def test_large_contents_are_no_bomb() -> None:
    """The page has twenty times as much as the largest page among real files."""
    assert len(inspect(hostile.many_contents(1, 50), page_limit=10).pages) == 2
    long = paper(*[text(f"Page {number} " + "lorem ipsum " * 500, 50, 50) for number in range(200)])
    assert len(inspect(long, page_limit=200).pages) == 200


@pytest.mark.thorough
def test_a_large_honest_image_is_no_bomb() -> None:
    size = {"Width": 11600, "Height": 11600, "BitsPerComponent": 8}
    scan = Stream(b"\xff" * 11600**2, Subtype=Name.Image, ColorSpace=Name.DeviceGray, **size)
    assert inspect(paper("q 500 0 0 500 0 0 cm /X Do Q", resources={"XObject": {"X": scan}}), page_limit=1).pages


def test_pages_whose_annotations_readers_may_draw_otherwise_beside_a_form_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A seal adds a form. In a plain file without one, the pages with annotations that show something are therefore
    drawn before and after; a link shows nothing."""
    compared: list[list[int]] = []
    monkeypatch.setattr(inspect_job, "check_looks", lambda before, after, marks: compared.append(list(marks)))
    square = {"Subtype": Name.Square, "Rect": [50, 50, 90, 90], "C": [1, 0, 0], "F": 4}
    square["AP"] = {"N": Stream(b"1 0 0 RG 2 2 36 36 re S", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 40, 40])}
    link = {"Subtype": Name.Link, "Rect": [50, 50, 90, 90], "Border": [0, 0, 0]}
    for annotations in ([square], [link], []):
        with UntrustedFile(content=paper(text("a", 50, 150), annotations=annotations)) as file:
            inspect_job.inspect(file, page_limit=10)
    assert [each for each in compared if each] == [[0]]
