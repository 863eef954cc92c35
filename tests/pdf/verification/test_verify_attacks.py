"""Nothing is gained by breaking what lies around a seal: what came after it speaks against the file, read or not."""

from collections.abc import Callable

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.kernel import clock
from paraph.pdf.structure.objects import PdfStream, Ref, text_string
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.verification.verify import verify
from tests.pdf import revisions
from tests.pdf.pdf_factory import paper, text
from tests.pdf.revisions import revised
from tests.pdf.sealed_files import authority, sealed, timestamping
from tests.pdf.surroundings import BROKEN_SIGNATURES, signature, signed_by
from tests.pdf.verification.test_verify_long_term import archived, by_list
from tests.pdf.verification.test_verify_surroundings import encrypted, sealed_at_the_highest

ROOTS = [authority("p-256").root]
LETTER = paper(text("A contract", 100, 700))
Write = Callable[[Revision], None]


def broken_signature(kind: str) -> revisions.Change:
    """A change that adds one more signature field."""

    def change(document: pikepdf.Pdf) -> list[pikepdf.Object]:
        value = document.make_indirect(BROKEN_SIGNATURES[kind](document))
        field = document.make_indirect(Dictionary(FT=Name.Sig, T="New", V=value))
        document.Root.AcroForm.Fields = Array([*document.Root.AcroForm.Fields, field])
        return [document.Root, document.Root.AcroForm, field, value]

    return change


@pytest.mark.parametrize(
    "kind", [kind for kind in BROKEN_SIGNATURES if kind not in ("a number", "a string", "an array")]
)
def test_a_broken_signature_after_the_seal(kind: str) -> None:
    found = verify(revised(sealed(LETTER, at=clock.now()).content, broken_signature(kind)), ROOTS)
    assert not found.ok and not found.covers_whole_file
    assert found.signatures[-1].field_name == "New" and not found.signatures[-1].intact


def _content(revision: Revision) -> None:
    first = next(pages(revision.reader))
    revision.change(first.ref)[b"/Contents"] = revision.stream(b"0 0 100 100 re f")


def _orphan(revision: Revision) -> None:
    revision.stream(b"nobody refers to this")


def _store(revision: Revision) -> None:
    listed = [revision.add(PdfStream({}, b"garbage"))]
    revision.change(revision.reader.trailer[b"/Root"])[b"/DSS"] = {b"/CRLs": listed}


def _unsigned_field(revision: Revision) -> None:
    _add_field(revision, None)


def _broken_signature(revision: Revision) -> None:
    _add_field(revision, revision.add({b"/Type": b"/Sig"}))


def _old_signature(revision: Revision) -> None:
    """The seal's own value once more, under another name."""
    _add_field(revision, revision.reader.dictionary(_fields(revision)[0])[b"/V"])


def _copied_signature(revision: Revision) -> None:
    """The seal's own value copied, in place of the first."""
    field = _fields(revision)[0]
    value = revision.resolve(revision.reader.dictionary(field)[b"/V"])
    revision.change(field)[b"/V"] = revision.add(dict(value))


def _no_signatures(revision: Revision) -> None:
    del revision.change(revision.reader.trailer[b"/Root"])[b"/AcroForm"]


def _add_field(revision: Revision, value: Ref | None) -> None:
    field = revision.add({b"/FT": b"/Sig", b"/T": text_string("New"), **({b"/V": value} if value else {})})
    root = revision.change(revision.reader.trailer[b"/Root"])
    root[b"/AcroForm"] = {**revision.resolve(root[b"/AcroForm"]), b"/Fields": [*_fields(revision), field]}


def _fields(revision: Revision) -> list[Ref]:
    form = revision.reader.dictionary(revision.reader.dictionary(revision.reader.trailer[b"/Root"])[b"/AcroForm"])
    fields: list[Ref] = revision.reader.resolve(form[b"/Fields"])
    return fields


WRITTEN = [
    _content, _orphan, _store, _unsigned_field, _broken_signature, _old_signature, _copied_signature, _no_signatures,
]  # fmt: skip


@pytest.mark.parametrize("write", WRITTEN)
@pytest.mark.parametrize("level", ["B-B", "B-LTA"])
def test_a_revision_after_the_seal_of_a_file_that_our_reader_alone_reads(write: Write, level: str) -> None:
    """Nobody can compare its revisions, so that nothing at all may follow."""
    pdf = encrypted(5, aes=True, metadata=True, packed=False)
    content = sealed_at_the_highest(pdf) if level == "B-LTA" else sealed(pdf, at=clock.now()).content
    assert verify(content, ROOTS).ok
    revision = Revision(PdfReader(content))
    write(revision)
    found = verify(content + revision.write().text, ROOTS)
    assert not found.ok
    assert found.altered or not found.intact


@pytest.mark.parametrize("write", [each for each in WRITTEN if each not in (_store, _unsigned_field)])
def test_a_revision_after_the_seal_of_a_plain_file(write: Write) -> None:
    content = sealed_at_the_highest(signed_by(signature(ByteRange=None)))
    revision = Revision(PdfReader(content))
    write(revision)
    assert not verify(content + revision.write().text, ROOTS).ok


def test_long_term_data_may_still_be_added_beside_a_broken_signature() -> None:
    content = sealed(signed_by(signature()), at=clock.now()).content
    found = verify(archived(revised(content, by_list(clock.now()))), ROOTS)
    assert found.ok and found.covers_whole_file and len(found.changes) == 2


def test_an_earlier_seal_does_not_stand_for_a_later_one() -> None:
    first = sealed(LETTER, at=clock.now()).content
    second = sealed(first, at=clock.now()).content
    assert verify(second, ROOTS).ok
    revision = Revision(PdfReader(second))
    old, new = _fields(revision)
    revision.change(new)[b"/V"] = revision.reader.dictionary(old)[b"/V"]
    assert not verify(second + revision.write().text, ROOTS).ok


def test_an_end_that_points_back_before_the_seal() -> None:
    content = sealed(LETTER, at=clock.now()).content
    start = LETTER[LETTER.rindex(b"startxref") + 9 :].split()[0]
    assert not verify(content + b"startxref\n" + start + b"\n%%EOF\n", ROOTS).ok
    assert not verify(content + b"startxref\nx\n%%EOF\n", ROOTS).ok


def _version(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    document.Root.Version = Name("/1.7")
    return [document.Root]


def _need_appearances(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    document.Root.AcroForm.NeedAppearances = True
    return [document.Root, document.Root.AcroForm]


@pytest.mark.parametrize("change", [_version, _need_appearances])
@pytest.mark.parametrize("level", ["B-B", "B-LTA"])
def test_what_changes_how_viewers_read_the_file(change: revisions.Change, level: str) -> None:
    content = sealed_at_the_highest(LETTER) if level == "B-LTA" else sealed(LETTER, at=clock.now()).content
    assert verify(content, ROOTS).ok
    found = verify(revised(content, change), ROOTS)
    assert found.altered and not found.ok
    assert any("from byte" in each for each in found.changes)


@pytest.mark.parametrize("change", [_version, _need_appearances])
def test_a_timestamp_by_somebody_hides_no_such_change(change: revisions.Change) -> None:
    content = sealed(LETTER, at=clock.now(), timestamping=timestamping()).content
    assert verify(archived(content), ROOTS).ok  # though its program raises the version for the timestamp
    found = verify(archived(revised(content, change)), ROOTS)
    assert found.altered and not found.ok


def test_the_version_is_not_lowered_with_a_timestamp() -> None:
    def lower(document: pikepdf.Pdf) -> list[pikepdf.Object]:
        document.Root.Version = Name("/1.2")
        return [document.Root]

    stamped = archived(sealed(LETTER, at=clock.now(), timestamping=timestamping()).content)
    assert verify(stamped, ROOTS).ok
    assert not verify(archived(revised(stamped, lower)), ROOTS).ok
