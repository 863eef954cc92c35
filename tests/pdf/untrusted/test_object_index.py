"""Objects are found without parsing any."""

import pikepdf
import pytest
from pikepdf import Array

from paraph.pdf.structure.crossreference import CrossReferenceSection
from paraph.pdf.structure.pages import geometries_of, geometry_of, pages
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import _rows, fast_scan, index_objects
from tests.pdf.pdf_factory import paper
from tests.pdf.untrusted.test_actions import LAST, PACKED, is_passive, many, read


def test_objects_that_are_packed_are_found_with_their_containers() -> None:
    pdf = paper(*[""] * 3, **PACKED)
    found = index_objects(pdf)
    section = found.reader.crossreference.sections[0]
    entries = {number: found.reader.crossreference.entry(number) for number in range(section.runs[0][1])}
    in_use = {number: entry for number, entry in entries.items() if entry}
    containers = {entry.place for entry in in_use.values() if entry.packed}
    assert found.containers == {in_use[number].place for number in containers}
    plain = {number for number, entry in in_use.items() if not entry.packed}
    assert {span.number for span in found.perhaps_streams} <= plain and found.containers


@pytest.mark.parametrize("row", [b"\x01", b"\x02", b"\x00"])
def test_rows_that_name_one_place(row: bytes) -> None:
    section = CrossReferenceSection([(5, 3, 0)], {}, (row + b"\x00\x09\x07") * 3, (1, 2, 1))
    plain: dict[int, tuple[int, int]] = {}
    containers = _rows(section, 5, 3, 0, plain)
    assert (plain, containers) == {
        b"\x01": ({9: (7, 7)}, set()),
        b"\x02": ({}, {9}),
        b"\x00": ({}, set()),
    }[row]


def test_an_object_stream_that_is_none() -> None:
    """Nothing that stands in it could be looked at."""
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


def test_pages_that_are_alike_have_one_geometry() -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        boxes = [document.make_indirect(Array([0, 0, 100, size])) for size in (100, 200, 300, 400, 500)]
        for page, box in zip(document.pages, boxes, strict=False):
            page.obj.MediaBox = box  # their texts differ in one reference, which is not the same size
        for page in list(document.pages)[5:]:
            page.obj.Rotate = 90

    for packed in ({}, PACKED):
        pdf = paper(*[""] * 9, prepare=prepare, **packed)
        scanned = read(pdf, fast_scan)
        assert scanned
        reader = scanned.reader
        found = geometries_of(reader, pages(reader))
        assert found == [geometry_of(reader, page) for page in pages(reader)]
        assert [page.height for page in found[:5]] == [100, 200, 300, 400, 500]
        assert {page.rotate for page in found[5:9]} == {90}


def test_the_last_object_counts_too() -> None:
    assert index_objects(many(b"<</Length 1>>stream\na\nendstream")).perhaps_streams[-1].number == LAST + 1
