"""Actions are found wherever they hide, and the fast scan, which finds objects without parsing any, never contradicts
the full examination."""

import io
import random
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.crossreference import CrossReferenceSection
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import ScannedFile, _rows, fast_scan, index_objects
from paraph.pdf.untrusted.jobs.upload_checks.preflight import count_actions, read_behaviour
from paraph.pdf.untrusted.passive import NO_ACTIONS
from tests.pdf.odd_files.papers import Place, Raw
from tests.pdf.pdf_factory import paper, saved, text

Result = TypeVar("Result")
PACKED = {"object_stream_mode": pikepdf.ObjectStreamMode.generate}
_MARK = b"@here@"
LAST = 253  # objects of many() before the bodies
SCRIPT = b"<</S/JavaScript/JS(app.alert\\(1\\))>>"
_PIECES = [
    *(b"( ) \\ << >> endobj obj [ ] % /A /Y 1 null <41> #53".split()),
    *(b"@here@400 0 obj ", b"@here@400 0 obj ", b"\n", b" ", b"stream\n", b"\nendstream", b"\nendobj\n", b"/Length 2"),
    *(b"/S/JavaScript/JS(x)", b"/J#61vaScript", b"<</Length 2>>stream\nab\nendstream", b"/Z (a)"),
]


def read(pdf: bytes, what: Callable[[UntrustedFile], Result]) -> Result:
    with UntrustedFile(content=pdf) as source:
        return what(source)


def counted(source: UntrustedFile) -> dict[str, int]:
    """Return the counts of the full examination."""
    counts = count_actions(source.pikepdf())
    return {name: counts[name] for name in NO_ACTIONS}


def told(pdf: bytes) -> dict[str, int]:
    """Return the counts that an inspection tells."""
    return read(pdf, lambda source: dict(NO_ACTIONS) if passive_scan(source) else counted(source))


def passive_scan(source: UntrustedFile) -> ScannedFile | None:
    found = fast_scan(source)
    return found if found and found.passive else None


def is_passive(pdf: bytes) -> bool:
    return read(pdf, lambda source: passive_scan(source) is not None)


def many(*bodies: bytes, filling: int = 250) -> bytes:
    """A file with a plain table and enough objects for the fast scan to take it, ``bodies`` last. A body may contain
    object 400, at the place marked ``@here@``."""
    return bytes(_many(*bodies, filling=filling).close())


def _many(*bodies: bytes, filling: int = 250) -> Raw:
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>"]
    objects += [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<<>>>>", *[b"<</K (a \\) b (c) d)>>"] * filling]
    raw = Raw(bytearray(b"%PDF-1.7\n"), trailer=b"")
    for number, body in enumerate([*objects, *bodies], start=1):
        if _MARK in body:
            raw.places[400] = Place(len(raw.data) + len(b"%d 0 obj\n" % number) + body.index(_MARK), 0)
            raw.highest = 400
        raw.put(number, body.replace(_MARK, b""))
    return raw


def stream(data: bytes, dictionary: bytes = b"") -> bytes:
    return b"<</Length %d%b>>\nstream\n%b\nendstream" % (len(data), dictionary, data)


def test_a_plain_file_is_quiet() -> None:
    assert is_passive(many()) and told(many()) == NO_ACTIONS
    assert is_passive(many(stream(b"/JavaScript in data runs nothing")))
    assert is_passive(paper(text("a", 50, 50), **PACKED))


@pytest.mark.parametrize("packed", [False, True])
def test_each_kind_is_counted(packed: bool) -> None:
    actions = [
        *({"S": Name.JavaScript, "JS": "app.alert(1)"}, {"S": Name.Rendition, "JS": "app.alert(2)"}),
        *({"S": Name.Launch, "F": "calc.exe"}, {"S": Name.ImportData, "F": "a.fdf"}),
        *({"S": Name.SubmitForm, "F": "https://example.com"}, {"S": Name.URI, "URI": "https://example.com"}),
    ]
    links = [{"Subtype": Name.Link, "Rect": [0, 0, 9, 9], "A": action} for action in actions]

    def prepare(document: pikepdf.Pdf) -> None:
        document.attachments["a.txt"] = b"attached"
        document.Root.Ballast = Array([document.make_indirect(Dictionary(N=number)) for number in range(300)])

    found = told(paper("", annotations=links, prepare=prepare, **(PACKED if packed else {})))
    assert found == {"scripts": 2, "launch_actions": 1, "submit_actions": 2, "attachments": 1}


HIDDEN = [
    SCRIPT,
    SCRIPT.replace(b"JavaScript", b"J#61vaScript"),
    SCRIPT.replace(b"/S/", b"/S%a comment\n/"),
    stream(b"data", b"/A" + SCRIPT),
    # another object, in some files with a stream, is within a string of the object that has the script
    b"<</Y(endobj @here@400 0 obj 1 endobj)/S/JavaScript/JS(x)>>",
    b"<</Y(endobj\n@here@400 0 obj <</Length 2>>stream\nab\nendstream endobj)/S/JavaScript/JS(x)>>",
    b"<</Y(>>endobj @here@400 0 obj 1 endobj)/S/JavaScript/JS(x)>>",
    b"<</Y(\\(endobj)/Z @here@400 0 obj 1 endobj /S/JavaScript/JS(x)>>",
    b"[(stream) " + SCRIPT + b"]",
    b"<</X(stream)/Y(@here@400 0 obj <</Length 2>>stream\nab\nendstream endobj)/S/JavaScript/JS(x)>>",
]


def files_with_actions() -> list[bytes]:
    """Return small files that each have a script, hidden in every way that we know."""
    return [*(many(body, filling=3) for body in HIDDEN), _object_stream(SCRIPT, b"/Type/ObjStm")]


@pytest.mark.parametrize("pdf", [many(body) for body in HIDDEN])
def test_a_script_is_found_where_it_hides(pdf: bytes) -> None:
    assert told(pdf)["scripts"] == 1


def _object_stream(content: bytes, dictionary: bytes) -> bytes:
    """A file whose object 300 is in an object stream; ``dictionary``: further entries of that stream."""
    raw = _many()
    raw.stream(LAST + 1, zlib.compress(b"300 0 " + content), b"/Filter/FlateDecode/N 1/First 6" + dictionary)
    raw.places[300], raw.highest = Place(LAST + 1, 0, packed=True), 300
    return bytes(raw.close())


@pytest.mark.parametrize("dictionary", [b"/Type/ObjStm", b"/Type/Obj#53tm", b""])
def test_a_script_is_found_in_an_object_stream(dictionary: bytes) -> None:
    pdf = _object_stream(SCRIPT, dictionary)
    assert told(pdf) == read(pdf, counted)
    assert told(_object_stream(SCRIPT, b"/Type/ObjStm"))["scripts"] == 1
    assert told(_object_stream(b"<</S/J#61vaScript/JS(x)>>", b"/Type/ObjStm"))["scripts"] == 1
    assert told(_object_stream(b"<</A 1>>", b"/Type/ObjStm")) == NO_ACTIONS


@cache
def _packed_twice() -> bytes:
    return zlib.compress(zlib.compress(bytes(200 << 20), 9), 9)


def _bomb(dictionary: bytes = b"") -> bytes:
    return stream(_packed_twice(), b"/Filter[/FlateDecode/FlateDecode]" + dictionary)


@pytest.mark.parametrize(
    "dictionary",
    [
        b"",
        b"/Y(endobj @here@400 0 obj 1 endobj)",
        b"/Y(\\(endobj)/Z @here@400 0 obj 1 endobj ",
        b"/Y(>> endobj @here@400 0 obj 1 endobj)",
        b"/Y 1 %>> endobj @here@400 0 obj 1 endobj\n",
        b"/Y<<endobj @here@400 0 obj 1 endobj>>",
    ],
)
def test_a_bomb_is_found_where_it_hides(dictionary: bytes) -> None:
    with pytest.raises(PdfRefused) as refused:
        told(many(_bomb(dictionary)))
    assert refused.value.reason == "too_complex"


def test_whatever_is_put_together_nothing_is_overlooked() -> None:
    """Files of pieces of objects in any order, with the place of another object among them; most are no sound PDFs."""
    chance = random.Random(4)
    passive_files = speaking = 0
    for _ in range(1500):
        pieces = [chance.choice(_PIECES) for _ in range(chance.randint(2, 14))]
        pdf = many(b"<<" + b"".join(pieces) + chance.choice([b">>", b"", b")>>"]), filling=2)
        found = _judged(pdf, counted)
        has_actions = isinstance(found, dict) and any(found.values())
        found_passive = isinstance(_judged(pdf, passive_scan), ScannedFile)
        assert not (found_passive and has_actions), pdf
        passive_files, speaking = passive_files + found_passive, speaking + has_actions
    assert passive_files > 20 and speaking > 50


def _judged(pdf: bytes, what: Callable[[UntrustedFile], Any]) -> Any:
    try:
        return read(pdf, what)
    except PdfRefused as refused:
        return refused.reason


def test_what_was_replaced_since_is_no_longer_told() -> None:
    with pikepdf.open(io.BytesIO(many(SCRIPT))) as document:
        document.get_object(LAST + 1, 0).S = Name.URI
        assert told(saved(document)) == NO_ACTIONS


def test_a_file_whose_script_only_a_repair_brings_to_light_is_refused() -> None:
    """The table leads to a catalog without pages, so that readers search the file, and find another one with a script
    in an object stream."""
    pdf = pikepdf.new()
    pdf.add_blank_page()
    pdf.Root.Kept = pdf.make_indirect(Dictionary(S=Name.JavaScript, JS="app.alert(1)"))
    target = io.BytesIO()
    pdf.save(target, **PACKED)
    head = b"%PDF-1.7\n900 0 obj\n<</Type/Catalog/Pages 901 0 R>>\nendobj\n"
    table = b"xref\n900 1\n0000000009 00000 n \ntrailer\n<</Size 901/Root 900 0 R>>\n"
    hidden = head + table + target.getvalue() + b"startxref\n%d\n%%%%EOF\n" % len(head)
    with pytest.raises(PdfRefused, match="cannot be read"):
        read(hidden, lambda source: read_behaviour(source, passive=True))


@pytest.mark.parametrize("row", [b"\x01", b"\x02", b"\x00"])
def test_rows_that_name_one_place(row: bytes) -> None:
    section = CrossReferenceSection([(5, 3, 0)], {}, (row + b"\x00\x09\x07") * 3, (1, 2, 1))
    plain: dict[int, tuple[int, int]] = {}
    containers = _rows(section, 5, 3, 0, plain)
    assert (plain, containers) == {b"\x01": ({9: (7, 7)}, set()), b"\x02": ({}, {9}), b"\x00": ({}, set())}[row]


def test_an_object_stream_that_is_none() -> None:
    """Nothing in it could be examined."""
    pdf = paper("", **PACKED)
    assert is_passive(pdf)
    at = pdf.index(b"/ObjStm")
    start = pdf.rindex(b" obj", 0, at)
    assert not is_passive(pdf[:start] + b" obj [(stream)] endobj %" + pdf[start + 24 :])


@pytest.mark.parametrize("entry", [b"%010d 00001 f \n", b"%010d 00000 n \n"])
def test_an_object_stream_that_was_replaced(entry: bytes) -> None:
    pdf = paper("", **PACKED)
    found = index_objects(pdf)
    [container] = [span.number for span in found.perhaps_streams if span.place in found.containers]
    root, size = found.reader.trailer[b"/Root"].number, found.reader.trailer[b"/Size"]
    start = found.reader.crossreference.start or 0
    trailer = b"trailer\n<</Size %d/Root %d 0 R/Prev %d>>\n" % (size, root, start)
    added = pdf + b"\n%d 0 obj 1 endobj\n" % container
    update = b"xref\n%d 1\n" % container + entry % (len(pdf) + 1) + trailer + b"startxref\n%d\n%%%%EOF\n" % len(added)
    other = update.replace(b"xref\n%d 1\n" % container, b"xref\n0 1\n", 1).replace(b" 00000 n", b" 65535 f")
    assert is_passive(added + other)
    assert not is_passive(added + update)
