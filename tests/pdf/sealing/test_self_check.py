"""A seal that does not validate never gets out."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.keys import KeySignature
from paraph.pdf.drawing import marks
from paraph.pdf.pki.certificate import without_root
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.sealing import seal
from paraph.pdf.sealing.draft import DraftInProcess, SealContent
from paraph.pdf.sealing.seal import Mark, Overlay, SealedPdf, SealError
from paraph.pdf.sealing.self_check import ExpectedSeal
from paraph.pdf.structure.objects import Ref, serialized
from paraph.pdf.structure.pages import pages as all_pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.sandboxed_draft import sandboxed_drafts
from tests.pdf.levels import long_term
from tests.pdf.pdf_factory import flipped, paper, text
from tests.pdf.sealed_files import (
    DOCUMENT,
    GREEN,
    OWN,
    PROOF,
    RED,
    WATERMARK,
    assert_trusted,
    pictures,
    sealed,
    timestamping,
)

LETTER = paper(text("To whom it may concern", 72, 700))
MARKS = [Mark(1, 100, 100, 100, 50, RED)]


def checked(content: bytes, original: bytes, token: bytes = b"", **changed: Any) -> None:
    """Check a sealed file as sealing does, as if nothing had been drawn."""
    key = OWN.sealing_key
    draft = DraftInProcess(original, "incremental", SealContent(b"", (), None, "", "", clock.now()))
    draft.seal_revision(LongTermData(), 1)
    certificates = without_root(key.certificate, key.chain)
    expected = ExpectedSeal(certificates, DOCUMENT, token, len(content), b"", LongTermData())
    draft.check(content, hashlib.sha256(original), replace(expected, **changed))


def test_any_flipped_byte_is_noticed() -> None:
    """Every eleventh byte is flipped: in the upload, the revision, the seal's own value and its padding."""
    result = sealed(LETTER, timestamping=timestamping(), appearances=pictures(), marks=MARKS)
    assert result.timestamp is not None
    checked(result.content, LETTER, result.timestamp.token)
    for position in range(0, len(result.content), 11):
        with pytest.raises(SealError):
            checked(flipped(result.content, position), LETTER, result.timestamp.token)
            pytest.fail(f"byte {position}, {result.content[position - 20 : position + 20]!r}")


def test_bytes_added_or_missing_are_noticed() -> None:
    content = sealed(LETTER).content
    for changed in (content + b"\n", content[:-1], b"\n" + content):
        with pytest.raises(SealError):
            checked(changed, LETTER)


@pytest.mark.parametrize("wrong", [None, b"null", 9])
def test_a_revision_that_does_not_point_back_is_noticed(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    original = Revision._trailer

    def astray(*arguments: Any) -> Any:
        trailer = original(*arguments)
        return {key: value for key, value in trailer.items() if key != b"/Prev"} | ({b"/Prev": wrong} if wrong else {})

    monkeypatch.setattr(Revision, "_trailer", astray)
    with pytest.raises(SealError, match=r"point back|does not validate"):
        sealed(LETTER)


def test_the_hash_of_the_caller_serves_and_is_checked(tmp_path: Path) -> None:
    known = sealed(LETTER, hashed=hashlib.sha256(LETTER), drafts=sandboxed_drafts)
    assert_trusted(known.content, tmp_path)
    assert known.sha256 == hashlib.sha256(known.content).digest()
    with pytest.raises(SealError):
        sealed(LETTER, hashed=hashlib.sha256(LETTER + b" "), drafts=sandboxed_drafts)


class Forger:
    """A key that signs with another private key than its certificate's."""

    certificate = OWN.sealing_key.certificate
    chain = OWN.sealing_key.chain
    algorithm = OWN.sealing_key.algorithm
    key_id = "forged"

    def sign(self, message: bytes) -> KeySignature:
        return OWN.timestamp_key.sign(message)


def test_a_key_that_does_not_match_its_certificate_is_noticed() -> None:
    with pytest.raises(SealError, match="does not validate"):
        sealed(LETTER, key=Forger())


@pytest.mark.parametrize("signed_before", [False, True])
def test_a_lost_or_exchanged_mark_is_noticed(monkeypatch: pytest.MonkeyPatch, signed_before: bool) -> None:
    original = marks.DrawingComposer.compose

    def forgetful(*arguments: Any) -> Any:
        picture = original(*arguments)
        return replace(picture, operators=picture.operators.replace(b"/Paraph0 Do", b""))

    pdf = sealed(LETTER).content if signed_before else LETTER
    both = [*MARKS, Mark(1, 300, 300, 100, 50, GREEN)]
    sealed(pdf, appearances=pictures(), marks=both, page_overlay=Overlay(WATERMARK))
    monkeypatch.setattr(marks.DrawingComposer, "compose", forgetful)
    with pytest.raises(SealError, match="mark is missing"):
        sealed(pdf, appearances=pictures(), marks=both, page_overlay=Overlay(WATERMARK))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(b"/Paraph3", b"/Other"),
        lambda text: re.sub(rb"/Paraph3 \d+ 0 R", b"/Paraph3 1 0 R", text),
        lambda text: re.sub(rb"/Contents \[(\d+ 0 R) (.*) (\d+ 0 R)\]", rb"/Contents [\3 \2 \1]", text),
        lambda text: re.sub(rb"\d+ 0 R\]", b"]", text),
        lambda text: text.replace(b"/Resources", b"/Recourses"),
        lambda text: b"null",
    ],
)
def test_a_watermark_that_one_of_many_pages_lost_is_noticed(
    monkeypatch: pytest.MonkeyPatch, spoil: Callable[[bytes], bytes]
) -> None:
    pdf = paper(*[text(f"Page {number}", 72, 700) for number in range(6)])
    written, pages = Revision.write, list[Ref]()

    def spoilt(self: Revision) -> Any:
        pages.append(ref := next(page.ref for page in islice(all_pages(PdfReader(pdf)), 3, None)))
        self._changed[ref] = spoil(serialized(self._changed[ref]))
        return written(self)

    monkeypatch.setattr(Revision, "write", spoilt)
    with pytest.raises(SealError, match=r"mark is missing|does not validate|lost its resources"):
        sealed(pdf, appearances=pictures(), page_overlay=Overlay(WATERMARK))
    assert pages


def test_the_timestamp_must_be_over_this_signature() -> None:
    first, second = (sealed(LETTER, timestamping=timestamping()) for _ in range(2))
    assert first.timestamp is not None and second.timestamp is not None
    with pytest.raises(SealError, match="timestamp"):
        checked(first.content, LETTER, second.timestamp.token)
    with pytest.raises(SealError, match="timestamp"):
        checked(first.content, LETTER)


def test_a_token_larger_than_expected_gets_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "_TOKEN_SIZE", 100)
    result = sealed(LETTER, timestamping=timestamping())
    assert result.timestamp is not None
    checked(result.content, LETTER, result.timestamp.token)


@cache
def archived() -> SealedPdf:
    return sealed(LETTER, at=clock.now(), timestamping=timestamping(), long_term=long_term())


def check_archived(content: bytes, **changed: Any) -> None:
    """Check ``content`` as a fresh seal at B-LTA, where ``changed`` are facts other than those of the seal."""
    result = archived()
    assert result.timestamp and result.archive
    key = OWN.sealing_key
    statuses = long_term().collect((key.certificate, *key.chain)).data
    facts: dict[str, Any] = {
        "sealed_size": result.content.index(b"%%EOF", len(LETTER)) + 6,
        "archive_token": result.archive.token,
        "statuses": LongTermData(certificates=statuses.certificates),
    }
    checked(content, LETTER, result.timestamp.token, **(facts | changed))


def test_the_archive_timestamp_and_the_statuses_are_looked_at() -> None:
    content = archived().content
    check_archived(content)
    another = sealed(LETTER, at=clock.now(), timestamping=timestamping(), long_term=long_term()).archive
    assert another is not None
    rows: list[tuple[dict[str, Any], str]] = [
        ({"archive_token": another.token}, "The archive timestamp was changed"),
        ({"purpose": PROOF}, "The seal says that it is for something else"),
        ({"archive_token": b""}, "The archive timestamp is missing"),
        ({"sealed_size": len(LETTER)}, "does not cover the whole file"),
        ({"statuses": LongTermData(crls=(b"another list",))}, "The long-term data of the seal is missing"),
        ({"content": content + b"\n"}, "The seal does not cover the whole file"),
    ]
    for changed, complaint in rows:
        with pytest.raises(SealError, match=complaint):
            check_archived(**{"content": content, **changed})


def test_any_flipped_byte_of_an_archived_file_is_noticed() -> None:
    content = archived().content
    for position in range(0, min(20_000, len(content)), 501):
        with pytest.raises(SealError):
            check_archived(flipped(content, -1 - position))
