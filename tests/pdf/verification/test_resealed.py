"""A file that was altered after a seal and then sealed again: the earlier seal tells."""

from collections.abc import Callable

import pikepdf
import pytest

from paraph.kernel import clock
from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.verification.verify import verify
from tests.pdf import revisions
from tests.pdf.pdf_factory import paper, text
from tests.pdf.revisions import revised
from tests.pdf.sealed_files import GREEN, WATERMARK, authority, pictures, sealed, sealed_without_purpose, timestamping
from tests.pdf.surroundings import BROKEN_SIGNATURES, signed_by
from tests.pdf.verification.test_verify_surroundings import encrypted, sealed_at_the_highest

ROOTS = [authority("p-256").root]
LETTER = paper(text("A contract", 100, 700), text("Page two", 100, 700))
DRAWN = {"appearances": pictures(), "marks": [Mark(1, 100, 100, 100, 50, GREEN)], "page_overlay": Overlay(WATERMARK)}


def again(content: bytes) -> bytes:
    """Sealed as the service seals what somebody uploads to it."""
    return sealed(content, at=clock.now(), timestamping=timestamping(), **DRAWN).content


@pytest.fixture(scope="module", params=["B-B", "B-LTA"])
def first(request: pytest.FixtureRequest) -> bytes:
    return sealed(LETTER, at=clock.now(), **DRAWN).content if request.param == "B-B" else sealed_at_the_highest(LETTER)


def _overwritten(content: bytes) -> bytes:
    changed = content.replace(b"/MediaBox [ 0 0 5", b"/MediaBox [ 0 0 4", 1)
    assert changed != content
    return changed


def _appended(content: bytes) -> bytes:
    return revised(content, revisions.content)


def _version(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    document.Root.Version = pikepdf.Name("/1.4")
    return [document.Root]


@pytest.mark.parametrize("alter", [_overwritten, _appended, lambda content: revised(content, _version)])
def test_a_file_that_was_altered_and_sealed_again_is_not_valid(first: bytes, alter: Callable[[bytes], bytes]) -> None:
    found = verify(again(alter(first)), ROOTS)
    assert found.intact and found.trusted and not found.altered  # the newest seal, by itself
    assert not found.earlier_match and not found.ok and not found.signatures[0].matches
    assert (
        'The earlier seal Seal by "Paraph Development Seal" no longer matches: the file was altered after it, '
        "and then sealed again." in found.findings
    )


def test_a_file_that_was_only_sealed_again_is_valid(first: bytes) -> None:
    found = verify(again(again(first)), ROOTS)
    assert found.ok and found.earlier_match, found.findings


@pytest.mark.parametrize("kind", BROKEN_SIGNATURES)
def test_what_never_could_be_read_shows_no_alteration(kind: str) -> None:
    found = verify(again(signed_by(BROKEN_SIGNATURES[kind])), ROOTS)
    assert found.ok and found.earlier_match


def test_a_seal_that_was_removed_before_the_file_was_sealed_again(first: bytes) -> None:
    found = verify(again(revised(first, revisions.form_removed)), ROOTS)
    assert found.sound and not found.earlier_match and not found.ok
    assert found.signatures[0].field_name == "Seal" and not found.signatures[0].matches


def test_a_removed_signature_of_a_stranger_proves_nothing() -> None:
    """Who is not trusted could have signed anything, at any time."""
    stranger = authority("rsa-3072")
    signed = sealed_without_purpose(LETTER, key=stranger.sealing_key)
    found = verify(again(revised(signed, revisions.form_removed)), ROOTS)
    assert found.ok and len(found.signatures) == 1
    assert not verify(again(revised(signed, revisions.form_removed)), [*ROOTS, stranger.root]).ok


def test_an_encrypted_file_that_was_sealed_twice_has_two_names() -> None:
    first = sealed_at_the_highest(encrypted(4, aes=True, metadata=True, packed=False))
    found = verify(sealed(first, at=clock.now(), timestamping=timestamping()).content, ROOTS)
    assert found.ok and [report.field_name for report in found.signatures] == ["Seal", "Archive timestamp", "Seal 2"]
