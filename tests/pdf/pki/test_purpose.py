"""The purpose of a seal is written once and read back by others; only the path of the proof states that of a proof."""

import re
from pathlib import Path

import pytest
from asn1crypto import cms as other_cms

from paraph.kernel import clock
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.cms import CmsRefused, read_signed_data
from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose, stated_purpose
from paraph.pdf.verification.signed_file import SignedFile
from paraph.pdf.verification.verify import verify
from tests.pdf.sealed_files import LETTER, ROOTS, sealed, sealed_without_purpose

LARGEST = document_purpose(2**63 - 1, "production")
SOURCES = Path(__file__).parents[3] / "src" / "paraph"


def contents(pdf: bytes) -> bytes:
    return SignedFile(pdf).signatures[-1].contents


@pytest.mark.parametrize("purpose", [document_purpose(0, "sandbox"), proof_purpose(71, "production"), LARGEST])
def test_it_is_read_as_it_was_written(purpose: Purpose) -> None:
    content = sealed(LETTER, purpose=purpose, at=clock.now()).content
    assert stated_purpose(read_signed_data(contents(content))) == purpose == verify(content, ROOTS).purpose


def test_others_find_one_signed_attribute_in_der() -> None:
    content = contents(sealed(LETTER, purpose=proof_purpose(71, "sandbox"), at=clock.now()).content)
    [signer] = other_cms.ContentInfo.load(content)["content"]["signer_infos"]
    found = [each for each in signer["signed_attrs"] if each["type"].dotted == oids.SEAL_PURPOSE]
    assert len(found) == 1 and len(found[0]["values"]) == 1
    assert found[0]["values"][0].dump() == bytes.fromhex("3016 020101 0c05") + b"proof\x02\x01G\x0c\x07sandbox"
    assert list(signer["signed_attrs"]) == sorted(signer["signed_attrs"], key=lambda each: each.dump())


def test_a_seal_that_does_not_say_it_is_told_in_words() -> None:
    found = verify(sealed_without_purpose(LETTER), ROOTS)
    assert found.ok and found.purpose is None
    assert "The seal does not say what it is for, as those of other programs do not." in found.findings


class Odd(Purpose):
    """A purpose with any value: ``environment`` is the hexadecimal DER of the attribute's value."""

    @property
    def attribute(self) -> bytes:
        return der.sequence(der.oid(oids.SEAL_PURPOSE), der.tlv(der.SET, bytes.fromhex(self.environment)))


@pytest.mark.parametrize(
    "value",
    [
        der.sequence(),
        der.octet_string(b"proof"),
        der.sequence(der.integer(1), der.utf8_string("proof"), der.integer(7)),
        der.sequence(der.integer(1), der.utf8_string("something"), der.integer(7), der.utf8_string("sandbox")),
        der.sequence(der.integer(2), der.utf8_string("proof"), der.integer(7), der.utf8_string("sandbox")),
        der.sequence(der.integer(1), der.tlv(der.UTF8_STRING, b"\xff"), der.integer(7), der.utf8_string("sandbox")),
        der.integer(1) + der.integer(1),
    ],
)
def test_what_cannot_be_read_is_no_purpose(value: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "paraph.pdf.sealing.draft.check", lambda *_given, **_more: None
    )  # the check would refuse to hand out the file
    content = sealed(LETTER, purpose=Odd("proof", 7, value.hex()), at=clock.now()).content
    found = verify(content, ROOTS)
    assert not found.ok and found.purpose is None
    with pytest.raises((CmsRefused, ValueError)):
        stated_purpose(read_signed_data(contents(content)))


def test_the_proofs_path_alone_says_that_something_is_a_proof() -> None:
    """The only exception is the check of the service, which seals a page of its own and throws it away."""
    naming = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if re.search(r"\bproof_purpose\b|Purpose\(", path.read_text())
    }
    assert naming == {
        "flow/sealing/finalize.py",
        "operations/check/sealing.py",
        "pdf/__init__.py",
        "pdf/pki/purpose.py",
    }
    text = (SOURCES / "flow" / "sealing" / "finalize.py").read_text()
    assert text.count("proof_purpose(") == 1
    assert "proof_purpose(" in text.partition("def _sealed_proof(")[2].partition("\ndef ")[0]
