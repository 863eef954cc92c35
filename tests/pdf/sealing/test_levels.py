"""Each PAdES level as it is sealed, judged by this verification, pyHanko, poppler, qpdf and OpenSSL."""

import hashlib
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, LongTerm, StatusUnavailable
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.timestamps.authorities import HttpAuthority
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.verification.signed_file import SignedFile
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge
from tests.pdf.levels import assert_archived, level_by_pyhanko, long_term
from tests.pdf.pdf_factory import flipped, paper, text
from tests.pdf.sealed_files import (
    DRAWING,
    ROOT,
    ROOTS,
    authority,
    root_file,
    sealed,
    timestamping,
)
from tests.pdf.timestamps.test_authorities import openssl_responder, server

LETTER = paper(text("To whom it may concern", 72, 700), text("Second page", 72, 700))
LEVELS = ["B-B", "B-T", "B-LT", "B-LTA"]


def at_level(level: str, pdf: bytes = LETTER, **named: Any) -> SealedPdf:
    statuses = long_term(archive=level == "B-LTA") if level.startswith("B-LT") else None
    defaults = {"timestamping": None if level == "B-B" else timestamping(), "long_term": statuses}
    return sealed(pdf, at=clock.now(), **{**defaults, **named})


@pytest.mark.parametrize("level", LEVELS)
def test_everybody_finds_the_level_that_was_asked_for(level: str, tmp_path: Path) -> None:
    written: dict[str, Any] = {"reason": "Signed (by all)", "name": "Ünïon 株式会社"}
    result = at_level(level, **written, **DRAWING)
    assert (result.level, result.level_reasons) == (level, ())
    assert result.content.startswith(LETTER) and result.sha256 == hashlib.sha256(result.content).digest()
    assert result.content.count(b"startxref") == (3 if level == "B-LTA" else 2)
    found = verify(result.content, ROOTS)
    assert found.ok and found.level == level and found.covers_whole_file and not found.altered
    file = tmp_path / "sealed.pdf"
    file.write_bytes(result.content)
    independent.assert_sealed(file, root_file(tmp_path))
    assert level_by_pyhanko(result.content, ROOT) == (level if level.startswith("B-LT") else "")
    with pikepdf.open(file) as document:
        value = document.Root.AcroForm.Fields[0].V
        assert (str(value.Reason), str(value.Name)) == tuple(written.values())
    if level == "B-LTA":
        assert_archived(result.content, root_file(tmp_path), tmp_path)


def test_a_key_of_another_root() -> None:
    """The seal and its timestamp chain to different roots, each with statuses of its own."""
    own = authority("rsa-3072")
    result = at_level("B-LTA", key=own.sealing_key)
    assert result.level == "B-T" and "is not the development authority's" in result.level_reasons[0]
    statuses = long_term(own=own)
    statuses.authority_chain = ()
    result = at_level("B-LTA", key=own.sealing_key, long_term=statuses)
    assert result.level == "B-LTA" and verify(result.content, [ROOT, own.root]).level == "B-LTA"


@pytest.mark.parametrize("apart", [1999, pytest.param(397, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("level", ["B-LT", "B-LTA"])
def test_any_flipped_byte_is_told(level: str, apart: int) -> None:
    """pdf/verification/test_verdict flips the bytes of a seal at a level below these, with a timestamp alone."""
    content = at_level(level).content
    assert verify(content, ROOTS).ok
    for position in range(3, len(content), apart):
        found = verify(flipped(content, position), ROOTS)
        assert not (found.ok and found.covers_whole_file and found.level == level), position


def test_an_authority_that_nobody_expected() -> None:
    """At B-LTA the authority's statuses come with the archive timestamp; at B-LT the seal is made again, once only."""
    own = authority("rsa-3072")
    for last, revisions in ((True, 3), (False, 2)):
        surprised = long_term(archive=last, own=own)
        surprised.authority_chain = ()
        level = "B-LTA" if last else "B-LT"
        first, second = (at_level(level, key=own.sealing_key, long_term=surprised) for _ in range(2))
        assert first.level == second.level == verify(first.content, [ROOT, own.root]).level == level
        assert first.content.count(b"startxref") == revisions
        assert first.content.count(b"/CRLs") == (2 if last else 1)
        assert second.content.count(b"/CRLs") == 1


class Counting:
    """The built-in authority, which gives only so many ``answers``."""

    name = "counting"

    def __init__(self, answers: int) -> None:
        self.left = answers

    def answer(self, request: bytes, timeout: float) -> bytes:
        self.left -= 1
        return timestamping().authorities[0].answer(request, timeout) if self.left >= 0 else b""


@pytest.mark.parametrize(("answers", "level"), [(0, "B-B"), (1, "B-LT"), (2, "B-LTA")])
def test_an_authority_that_falls_silent(answers: int, level: str) -> None:
    result = at_level("B-LTA", timestamping=Timestamping([Counting(answers)], ROOTS))
    assert result.level == verify(result.content, ROOTS).level == level
    assert (result.timestamp is None) == (level == "B-B")
    if level == "B-LT":
        assert result.level_reasons[0].startswith("No archive timestamp could be had. counting gave no usable")


class Nobody:
    def statuses(self, chain: Chain) -> LongTermData:
        raise StatusUnavailable("The list cannot be fetched")


class Revoking:
    def statuses(self, chain: Chain) -> LongTermData:
        raise Revoked(load(chain[0]), datetime(2026, 1, 1, tzinfo=UTC))


def test_without_statuses_the_level_is_b_t() -> None:
    result = at_level("B-T", long_term=LongTerm([Nobody()]))
    assert result.level == verify(result.content, ROOTS).level == "B-T"
    assert set(result.level_reasons) == {"The list cannot be fetched."}
    assert b"/DSS" not in result.content


def test_a_revoked_key_seals_nothing() -> None:
    with pytest.raises(DomainError, match="must not be used: Paraph Development Seal was revoked on 2026"):
        at_level("B-LT", long_term=LongTerm([Revoking()]))


def test_earlier_signatures_stay_valid(tmp_path: Path) -> None:
    """They also gain the level of the last one, and no seal adds again what an earlier one brought."""
    contents = [at_level(level, LETTER).content for level in LEVELS]
    for first in contents:
        second = at_level("B-LTA", first, **DRAWING | {"page_overlay": None})
        found = verify(second.content, ROOTS)
        assert found.ok and found.level == "B-LTA" and found.covers_whole_file
        assert all(each.intact and each.trusted and not each.altered for each in found.signatures)
        seals = [each.level for each in found.signatures if each.kind == "seal"]
        assert seals == ["B-LTA", "B-LTA"]
        with pikepdf.open(BytesIO(second.content)) as document:
            assert len(document.Root.DSS.Certs) == 3 and document.Root.Extensions.ESIC.ExtensionLevel == 1
    file = tmp_path / "sealed.pdf"
    file.write_bytes(second.content)
    said = independent.pdfsig(file, root_file(tmp_path))
    assert said.count("Signature is Valid") == 2


class Lists:
    """The revocation lists of the tests' own authority, root and middle."""

    def statuses(self, chain: Chain) -> LongTermData:
        issuers = {"root": forge.root(), "middle": forge.middle()}
        lists = (forge.revocation_list(issuer, forge.curve_key(name)) for name, issuer in issuers.items())
        return LongTermData(crls=tuple(map(forge.der_of, lists)))


def test_timestamps_by_openssl(tmp_path: Path) -> None:
    """A responder that is not ours, reached over HTTP, whose certificate is two levels below its root."""
    roots = [ROOT, forge.der_of(forge.root())]
    statuses = long_term()
    statuses.sources = [*statuses.sources, Lists()]
    statuses.authority_chain = ()
    with server(openssl_responder(tmp_path)) as url:
        stamping = Timestamping([HttpAuthority(url)], roots)
        for revisions in (2, 1):  # the first time its statuses come with the archive timestamp
            result = sealed(LETTER, at=clock.now(), timestamping=stamping, long_term=statuses)
            found = verify(result.content, roots)
            assert result.level == found.level == "B-LTA" and found.ok, result.level_reasons
            assert result.content.count(b"/CRLs") == revisions
    pem = tmp_path / "test-root.pem"
    pem.write_bytes(forge.root().public_bytes(Encoding.PEM))
    assert_archived(result.content, pem, tmp_path)
    assert level_by_pyhanko(result.content, *roots) == "B-LTA"
    assert verify(result.content, ROOTS).ok is False


@pytest.mark.parametrize("level", ["B-T", "B-LT", "B-LTA"])
def test_the_issuers_of_an_authority_stand_in_the_store(level: str, tmp_path: Path) -> None:
    """The token does not carry the issuers. The seal is made again for them only if nobody expected the authority."""
    roots, made = [ROOT, forge.der_of(forge.root())], forge.Forge()
    stamping = Timestamping([made], roots)
    statuses = LongTerm([Nobody()] if level == "B-T" else [*long_term().sources, Lists()], level == "B-LTA")
    for asked in (2, 3) if level != "B-LTA" else (2, 4):
        term = None if level == "B-T" else statuses
        result = sealed(LETTER, at=clock.now(), timestamping=stamping, long_term=term)
        found = verify(result.content, roots)
        assert found.ok and found.level == result.level == level, found.findings
        assert len(made.asked) == asked
        assert forge.der_of(forge.middle()) in SignedFile(result.content).long_term_data().certificates
    (tmp_path / "sealed.pdf").write_bytes(result.content)
    independent.assert_sealed(tmp_path / "sealed.pdf", root_file(tmp_path))
    assert level_by_pyhanko(result.content, *roots) == (level if level != "B-T" else "")


def test_an_archive_timestamp_of_another_authority() -> None:
    """Its issuers go into the store that the timestamp covers, so the timestamp is asked for once more."""
    roots, second = [ROOT, forge.der_of(forge.root())], forge.Forge()
    result = at_level("B-LTA", timestamping=Timestamping([Counting(1), second], roots))
    found = verify(result.content, roots)
    assert found.ok and found.level == result.level == "B-LTA" and len(second.asked) == 2
    assert result.archive and result.archive.issuers.certificates == (forge.der_of(forge.middle()),)
