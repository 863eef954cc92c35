"""A file altered after a seal and then sealed again is not valid, even if nobody can judge the earlier seal."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from asn1crypto import cms
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel import clock
from paraph.pdf.pki import der
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge, revisions
from tests.pdf.forged_seals import ROOT, SealForge, with_value
from tests.pdf.levels import sealed_at_the_highest
from tests.pdf.odd_files.encrypted import locked
from tests.pdf.pdf_factory import paper, text
from tests.pdf.pki.test_der import as_ber, indefinite_outside
from tests.pdf.revisions import revised
from tests.pdf.sealed_files import (
    DRAWING,
    ROOTS,
    authority,
    sealed,
    sealed_now,
    sealed_without_purpose,
)
from tests.pdf.surroundings import BROKEN_SIGNATURES, signed_by

LETTER = paper(text("A contract", 100, 700), text("Page two", 100, 700))


def again(content: bytes) -> bytes:
    """Seal the file as the service seals an upload."""
    return sealed_now(content, **DRAWING)


@pytest.fixture(scope="module", params=["B-B", "B-LTA"])
def first(request: pytest.FixtureRequest) -> bytes:
    return (
        sealed(LETTER, at=clock.now(), **DRAWING).content if request.param == "B-B" else sealed_at_the_highest(LETTER)
    )


def overwritten(content: bytes) -> bytes:
    changed = content.replace(b"/MediaBox [ 0 0 5", b"/MediaBox [ 0 0 4", 1)
    assert changed != content
    return changed


def appended(content: bytes) -> bytes:
    return revised(content, revisions.content)


@pytest.mark.parametrize("alter", [overwritten, appended, lambda content: revised(content, revisions.version)])
def test_a_file_that_was_altered_and_sealed_again_is_not_valid(first: bytes, alter: Callable[[bytes], bytes]) -> None:
    found = verify(again(alter(first)), ROOTS)
    assert found.intact and found.trusted and not found.altered  # the newest seal alone
    assert not found.earlier_match and not found.ok and not found.signatures[0].matches
    assert (
        'The earlier seal Seal by "Paraph Development Seal" no longer matches: the file was altered after it, '
        "and then sealed again." in found.findings
    )


def test_a_file_that_was_only_sealed_again_is_valid(first: bytes) -> None:
    found = verify(again(again(first)), ROOTS)
    assert found.ok and found.earlier_match, found.findings


def test_a_seal_that_was_removed_before_the_file_was_sealed_again(first: bytes) -> None:
    found = verify(again(revised(first, revisions.form_removed)), ROOTS)
    assert found.sound and not found.earlier_match and not found.ok
    assert found.signatures[0].field_name == "Seal" and not found.signatures[0].matches


def test_a_removed_signature_of_a_stranger_proves_nothing() -> None:
    """A stranger could have signed anything, at any time."""
    stranger = authority("rsa-3072")
    signed = sealed_without_purpose(LETTER, key=stranger.sealing_key)
    found = verify(again(revised(signed, revisions.form_removed)), ROOTS)
    assert found.ok and len(found.signatures) == 1
    assert not verify(again(revised(signed, revisions.form_removed)), [*ROOTS, stranger.root]).ok


def test_an_encrypted_file_that_was_sealed_twice_has_two_names() -> None:
    first = sealed_at_the_highest(locked(Random(3), revision=4))
    found = verify(sealed_now(first), ROOTS)
    assert found.ok and [report.field_name for report in found.signatures] == ["Seal", "Archive timestamp", "Seal 2"]


ALL = [ROOT, *ROOTS]


def in_ber(seed: int) -> Callable[[bytes], bytes]:
    def write(value: bytes) -> bytes:
        carried = {each.chosen.dump() for each in cms.ContentInfo.load(value)["content"]["certificates"]}
        return as_ber(value, Random(seed).random, carried)

    return write


def _without_certificates(value: bytes) -> bytes:
    message = cms.ContentInfo.load(value)
    del message["content"]["certificates"]
    return bytes(message.dump(force=True))


def _of_two(value: bytes) -> bytes:
    message = cms.ContentInfo.load(value)
    message["content"]["signer_infos"] = [*message["content"]["signer_infos"]] * 2
    return bytes(message.dump(force=True))


def _algorithm(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda value: value.replace(der.oid(old), der.oid(new))


UNREADABLE: dict[str, Callable[[bytes], bytes]] = {
    "of a hash that is not known": _algorithm("2.16.840.1.101.3.4.2.1", "2.16.840.1.101.3.4.2.7"),  # SHA3-224
    "of an algorithm that is not known": _algorithm("1.2.840.10045.4.3.2", "2.16.840.1.101.3.4.3.9"),
    "without certificates": _without_certificates,
    "of two signers": _of_two,
    "nested too deeply": lambda value: b"\x30\x80" * 100 + value + b"\0\0" * 100,
}
SEAL = SealForge().sealed()


@pytest.mark.parametrize("alter", [overwritten, appended])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_judged_leaves_the_question_open(kind: str, alter: Callable[[bytes], bytes]) -> None:
    found = verify(again(alter(with_value(SEAL, UNREADABLE[kind]))), ALL)
    assert found.sound and not found.ok and not found.earlier_match
    assert found.signatures[0].matches is None
    assert "Whether the file was altered after the earlier seal Seal cannot be told." in found.findings


@pytest.mark.parametrize("alter", [overwritten, appended])
@pytest.mark.parametrize("write", [indefinite_outside, *map(in_ber, range(4))])
def test_a_signature_in_ber_tells_of_an_alteration(
    write: Callable[[bytes], bytes], alter: Callable[[bytes], bytes]
) -> None:
    found = verify(again(alter(with_value(SEAL, write))), ALL)
    assert found.sound and not found.ok and found.signatures[0].matches is False


@pytest.mark.parametrize("write", [indefinite_outside, *map(in_ber, range(8))])
def test_a_signature_in_ber_holds(write: Callable[[bytes], bytes]) -> None:
    written = with_value(SEAL, write)
    assert verify(written, [ROOT]).ok
    found = verify(again(written), ALL)
    assert found.ok and found.signatures[0].intact, found.findings


def test_an_outdated_signature_is_told_and_still_shows_alterations() -> None:
    outdated = SealForge(hash_="sha1").sealed()
    found = verify(again(outdated), ALL)
    assert found.ok and not found.signatures[0].intact and found.signatures[0].matches
    for alter in (overwritten, appended):
        found = verify(again(alter(outdated)), ALL)
        assert not found.ok and found.signatures[0].matches is False


@pytest.mark.parametrize("kind", ["no CMS", "/Contents of zeros", "/Contents of garbage", "an odd /ByteRange"])
def test_a_change_after_what_nobody_can_read(kind: str) -> None:
    blank = signed_by(BROKEN_SIGNATURES[kind])
    assert verify(again(blank), ALL).ok
    found = verify(again(revised(blank, revisions.content)), ALL)
    assert found.sound and not found.ok and found.signatures[0].matches is None


def test_openssl_reads_the_same_message_in_ber(tmp_path: Path) -> None:
    """Only the plainest BER is tried: OpenSSL 3.0 reads neither parts within parts of strings nor attributes in BER."""
    file, root = tmp_path / "sealed.pdf", tmp_path / "root.pem"
    root.write_bytes(forge.root().public_bytes(Encoding.PEM))
    file.write_bytes(with_value(SEAL, indefinite_outside))
    independent.assert_cades(file, root)
