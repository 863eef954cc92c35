"""An earlier signature that another program may read, and this one cannot judge, excuses nothing."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from asn1crypto import cms
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.pdf.pki import der
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge, revisions
from tests.pdf.forged_seals import ROOT, SealForge, with_value
from tests.pdf.pki.ber_writer import as_ber, chosen_by, indefinite_outside
from tests.pdf.revisions import revised
from tests.pdf.surroundings import BROKEN_SIGNATURES, signed_by
from tests.pdf.verification.test_resealed import ROOTS, again

ALL = [ROOT, *ROOTS]


def overwritten(pdf: bytes) -> bytes:
    changed = pdf.replace(b"/MediaBox [ 0 0 5", b"/MediaBox [ 0 0 4", 1)
    assert changed != pdf
    return changed


def appended(pdf: bytes) -> bytes:
    return revised(pdf, revisions.content)


def in_ber(seed: int) -> Callable[[bytes], bytes]:
    def write(value: bytes) -> bytes:
        carried = {each.chosen.dump() for each in cms.ContentInfo.load(value)["content"]["certificates"]}
        return as_ber(value, chosen_by(Random(seed)), carried)

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
    "of a hash that is not known": _algorithm("2.16.840.1.101.3.4.2.1", "2.16.840.1.101.3.4.2.8"),  # SHA3-256
    "of an algorithm that is not known": _algorithm("1.2.840.10045.4.3.2", "2.16.840.1.101.3.4.3.10"),
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


def test_our_own_seal_is_der_alone() -> None:
    ours = again(SEAL)
    assert verify(ours, ALL).ok
    for write in (indefinite_outside, in_ber(1)):
        found = verify(with_value(ours, write), ALL)
        assert not found.ok and not found.intact


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
    """Only the plainest: of strings in parts within parts, and attributes in BER, OpenSSL 3.0 reads none."""
    file, root = tmp_path / "sealed.pdf", tmp_path / "root.pem"
    root.write_bytes(forge.root().public_bytes(Encoding.PEM))
    file.write_bytes(with_value(SEAL, indefinite_outside))
    independent.assert_cades(file, root)
