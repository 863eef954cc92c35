"""What `verify` says of sealed files at every PAdES level, of files changed since, and of what is no sealed file."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.kernel import clock
from paraph.keys.development import revocation_list
from paraph.pdf.report import SealTimestamp, SignatureReport, Verification
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.verdict import Fault
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge, revisions
from tests.pdf.forge import Forge
from tests.pdf.pdf_factory import paper, text
from tests.pdf.revisions import Change, archived, by_answers, by_list, revised, status, store
from tests.pdf.sealed_files import LETTER, OWN, ROOTS, authority, on, root_file, sealed, sealed_now
from tests.pdf.surroundings import signature, signed_by


def with_a_field(document: pikepdf.Pdf) -> None:
    field = Dictionary(
        FT=Name.Tx, T="Remark", Type=Name.Annot, Subtype=Name.Widget, Rect=Array([100, 100, 200, 120]), F=4
    )
    page = document.pages[0].obj
    page.Annots = Array([document.make_indirect(field)])
    document.Root.AcroForm = Dictionary(Fields=Array([page.Annots[0]]))


@cache
def contract() -> bytes:
    """Return two pages with a form, sealed with a timestamp."""
    return sealed_now(paper(text("A contract", 100, 700), text("Page two", 100, 700), prepare=with_a_field))


def test_a_sealed_and_timestamped_file(tmp_path: Path) -> None:
    found = verify(contract(), ROOTS)
    assert found.ok and found.intact and found.trusted and found.covers_whole_file and not found.altered
    assert found.signer == "Paraph Development Seal" and found.level == "B-T" and found.changes == ()
    assert found.timestamp is not None and found.timestamp.trusted
    assert found.timestamp.authority == "Paraph Development Timestamp Authority"
    assert found.signed_at == found.timestamp.time
    assert found.findings == [
        'Sealed by "Paraph Development Seal", which is trusted; the seal is intact and covers the whole file.',
        f"The signer's certificate is {found.certificate}, which chains to the root {found.root}.",
        "The seal says what it is for: document of signature request 71 (production).",
        f'Timestamped on {clock.iso(found.timestamp.time)} by "Paraph Development Timestamp Authority".',
        "Level B-T: a trusted timestamp proves when the seal existed.",
    ]
    (tmp_path / "sealed.pdf").write_bytes(contract())
    independent.assert_sealed(tmp_path / "sealed.pdf", root_file(tmp_path))


def test_without_timestamp_it_says_whose_clock_it_was() -> None:
    at = clock.now().replace(microsecond=0)
    found = verify(sealed(LETTER, at=at).content, ROOTS)
    assert found.ok and found.level == "B-B" and found.timestamp is None and found.signed_at == at
    assert f"No timestamp; by the signer's own clock the time was {clock.iso(at)}." in found.findings


def test_a_stranger_s_timestamp_raises_no_level() -> None:
    found = verify(sealed_now(timestamping=Timestamping([Forge()], [forge.der_of(forge.root())])), ROOTS)
    assert found.level == "B-B" and found.timestamp is not None and not found.timestamp.trusted
    assert found.intact and not found.trusted
    assert any(each.endswith('by "Test Timestamps", which is not trusted.') for each in found.findings)
    assert any(each.startswith('The timestamp authority "Test Timestamps" is not trusted: ') for each in found.findings)


def test_expiry_is_judged_by_the_proven_time() -> None:
    stamped, bare = contract(), sealed(LETTER, at=clock.now()).content
    archive = archived(bare)
    with on(clock.now() + timedelta(days=365 * 11)):
        kept, lost = verify(stamped, ROOTS), verify(bare, ROOTS)
        assert verify(archive, ROOTS).trusted
    assert kept.ok and any("has expired since" in each for each in kept.findings)
    assert lost.intact and not lost.trusted
    assert any("its certificate expired on" in each for each in lost.findings)


_CHANGES: dict[Change, str] = {
    **dict.fromkeys((revisions.content, revisions.comment, revisions.title, revisions.version, revisions.orphan), ""),
    revisions.need_appearances: "",
    revisions.page_removed: "(/Pages) was changed",
    revisions.field_filled: 'the form field "Remark" (object ',
    revisions.form_removed: "the form is gone.",
}
"""Changes after the seal, with words that name what was changed."""


@pytest.mark.parametrize("change", _CHANGES)
def test_a_revision_appended_after_the_seal(change: Change) -> None:
    found, end = verify(revised(contract(), change), ROOTS), len(contract())
    assert found.intact and found.trusted and found.altered and not found.ok and not found.covers_whole_file
    (told,) = found.changes
    assert told.startswith("The file was changed after Seal") and told in found.findings
    assert f"from byte {end} on" in told and _CHANGES[change] in told
    assert f"From byte {end} on, no trusted signature or timestamp covers the file." in found.findings
    assert "the seal is intact and covers its revision of the file" in found.findings[0]


def test_a_timestamp_taken_out() -> None:
    """The token is an unsigned attribute, which the seal does not cover."""
    identifier = b"060b2a864886f70d010910020e"
    assert identifier in contract()
    found = verify(contract().replace(identifier, identifier[:-2] + b"7f"), ROOTS)
    assert not found.ok and found.timestamp is None


def test_a_second_seal_by_somebody_else() -> None:
    other = authority("rsa-3072")
    twice = sealed(contract(), key=other.sealing_key, at=clock.now()).content
    found = verify(twice, ROOTS)
    assert not found.trusted and not found.ok and [report.kind for report in found.signatures] == ["seal", "seal"]
    first = found.signatures[0]
    assert first.intact and first.trusted and first.matches is None and first.coverage == "its revision"
    name = found.signatures[1].field_name
    assert first.changes[0] == f'A signature by "Paraph Development Seal", which is not trusted, was added ({name}).'
    both = verify(twice, [*ROOTS, other.root])
    assert both.ok and not both.signatures[0].altered
    assert both.signatures[0].changes == (f'A signature by "Paraph Development Seal" was added ({name}).',)


def test_files_without_a_seal_encrypted_or_not() -> None:
    assert verify(LETTER, ROOTS).findings == ["The file is not sealed: it has no signature."]
    with pikepdf.open(io.BytesIO(LETTER)) as document:
        for user, sentence in (("", "not sealed"), ("secret", "encrypted and cannot be read without its password")):
            output = io.BytesIO()
            document.save(output, encryption=pikepdf.Encryption(owner="owner", user=user))
            found = verify(output.getvalue(), ROOTS)
            assert not found.ok and sentence in found.findings[0]


@pytest.mark.parametrize("content", [b"", b"junk", b"%PDF-1.7\n", b"%PDF-1.7\nstartxref\n9\n%%EOF", b"\xff" * 9999])
def test_what_is_no_pdf(content: bytes) -> None:
    found = verify(content, ROOTS)
    assert not found.ok and found.findings[0].startswith("The file cannot be read as a PDF")


def test_hostile_values_never_raise() -> None:
    """Entries that the reader looks at get wrong types and lengths."""
    swaps = [
        (rb"/ByteRange\s*\[[^\]]*\]", b"/ByteRange []"),
        (rb"/ByteRange\s*\[[^\]]*\]", b"/ByteRange [0 1 2 3]"),
        (rb"/ByteRange\s*\[[^\]]*\]", b"/ByteRange [0 99999999 99999999 5]"),
        (rb"/ByteRange\s*\[[^\]]*\]", b"/ByteRange [-5 10 20 -1]"),
        (rb"/ByteRange\s*\[[^\]]*\]", b"/ByteRange (x)"),
        (rb"/SubFilter\s*/ETSI.CAdES.detached", b"/SubFilter /adbe.x509.rsa_sha1"),
        (rb"/Contents\s*<30", b"/Contents <ff"),
        (rb"/FT\s*/Sig", b"/FT /Tx"),
    ]
    for pattern, value in swaps:
        found_at = [*re.finditer(pattern, contract())][-1]
        swapped = contract()[: found_at.start()] + value.ljust(len(found_at[0])) + contract()[found_at.end() :]
        assert swapped != contract() and len(swapped) >= len(contract())
        assert not verify(swapped, ROOTS).ok


@pytest.mark.parametrize("data", [by_answers, by_list])
def test_the_levels_one_after_the_other(data: Any) -> None:
    assert verify(contract(), ROOTS).level == "B-T"
    kept = revised(contract(), data(clock.now()))
    found = verify(kept, ROOTS)
    assert found.level == "B-LT" and not found.altered and not found.covers_whole_file and not found.ok
    assert found.changes == ("Long-term validation data was added after Seal.",)
    assert f"From byte {len(contract())} on, no trusted signature or timestamp covers the file." in found.findings
    archive = archived(kept)
    found = verify(archive, ROOTS)
    assert found.level == "B-LTA" and found.ok and found.covers_whole_file
    assert [report.kind for report in found.signatures] == ["seal", "document timestamp"]
    assert found.signatures[1].timestamp is not None and found.signatures[1].level == ""
    found = verify(revised(archived(contract()), data(clock.now())), ROOTS)  # added afterwards, and not archived
    assert found.level == "B-LT" and not found.altered and not found.covers_whole_file and not found.ok


def test_data_that_is_missing_old_or_somebody_elses_proves_nothing() -> None:
    now, stranger = clock.now(), authority("rsa-3072")
    half = store(ocsps=[status(OWN, OWN.sealing_key.certificate, now)])
    old = by_list(now - timedelta(days=30))
    elsewhere = store(crls=[revocation_list(stranger, now)])
    forged = store(ocsps=[status(stranger, OWN.sealing_key.certificate, now)])
    garbage = store(crls=[b"garbage"], ocsps=[b"garbage"])
    for change in (half, old, elsewhere, forged):
        found = verify(archived(revised(contract(), change)), ROOTS)
        assert found.ok and found.level == "B-T"
    found = verify(archived(revised(contract(), garbage)), ROOTS)
    assert found.altered and not found.ok


def test_an_archive_timestamp_without_long_term_data_is_no_more_than_a_timestamp() -> None:
    found = verify(archived(contract()), ROOTS)
    assert found.ok and found.level == "B-T" and found.covers_whole_file
    assert verify(archived(sealed(LETTER, at=clock.now()).content), ROOTS).level == "B-T"


def test_long_term_data_may_still_be_added_beside_a_broken_signature() -> None:
    content = sealed(signed_by(signature()), at=clock.now()).content
    found = verify(archived(revised(content, by_list(clock.now()))), ROOTS)
    assert found.ok and found.covers_whole_file and len(found.changes) == 2


@pytest.mark.parametrize("change", [revisions.version, revisions.need_appearances])
def test_an_archive_timestamp_hides_no_change_of_how_viewers_read_the_file(change: Change) -> None:
    assert verify(archived(contract()), ROOTS).ok  # though its program raises the version for the timestamp
    found = verify(archived(revised(contract(), change)), ROOTS)
    assert found.altered and not found.ok


AT = datetime(2026, 11, 21, 14, 5, 9, 123456, tzinfo=UTC)
STAMP = SealTimestamp("Authority", AT, "1.2.3", trusted=True)
_TWO = (Fault("GENERIC", "two"),)
_FOUND: tuple[Any, ...] = (None, None, None, True, True, True, "whole file", AT, STAMP, "B-T", False, ("one",), _TWO)
SIGNATURE = SignatureReport("Seal", "seal", "Acme", *_FOUND)


def test_a_verification_has_these_keys_in_this_order() -> None:
    told = Verification(
        intact=True, trusted=True, covers_whole_file=True, detached_timestamps=[STAMP], signatures=[SIGNATURE]
    ).to_json()
    assert list(told) == [
        "ok", "indication", "sub_indication", "intact", "trusted", "covers_whole_file", "altered", "earlier_match",
        "signer", "certificate", "root", "as_asked", "purpose", "signed_at", "timestamp", "level", "changes",
        "findings", "signatures", "kept_timestamps", "as_of",
    ]  # fmt: skip
    assert told["ok"] is True and told["timestamp"] is None and json.loads(json.dumps(told)) == told


def test_a_signature_has_these_keys_and_times_in_utc() -> None:
    timestamp = {"authority": "Authority", "time": "2026-11-21T14:05:09.123Z", "policy_oid": "1.2.3", "trusted": True}
    assert SIGNATURE.to_json() == {
        "indication": "INDETERMINATE",
        "sub_indication": "GENERIC",
        "field": "Seal",
        "kind": "seal",
        "signer": "Acme",
        "certificate": None,
        "root": None,
        "purpose": None,
        "intact": True,
        "matches": True,
        "trusted": True,
        "coverage": "whole file",
        "claimed_at": "2026-11-21T14:05:09.123Z",
        "timestamp": timestamp,
        "level": "B-T",
        "altered": False,
        "changes": ["one"],
        "findings": ["two"],
    }
