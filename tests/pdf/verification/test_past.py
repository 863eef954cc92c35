"""A file can be verified as of a time in the past: what was not there yet does not count."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.keys.development import revocation_list
from paraph.pdf.report import Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, imprint
from paraph.pdf.timestamps.timestamp import stamp_time
from paraph.pdf.untrusted.verify import verify as sandboxed
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.verify import verify
from tests.pdf import revisions
from tests.pdf.levels import long_term
from tests.pdf.revisions import archived, revised, revoking, store
from tests.pdf.sealed_files import LETTER, OWN, ROOTS, authority, on, sealed_now, stamped, timestamping
from tests.pdf.verification.test_evidence_check import evidence, proven, signed, uploaded

DAY = timedelta(days=1)
NOW = clock.now() + timedelta(minutes=1)  # after the keys of the tests were made
FIRST, LATER, LAST = NOW + DAY, NOW + 5 * DAY, NOW + 9 * DAY


def sealed_on(moment: datetime, pdf: bytes = LETTER, *, stamps: bool = True, **how: Any) -> bytes:
    with on(moment):
        return sealed_now(pdf, **({} if stamps else {"timestamping": None}), **how)


def archived_on(moment: datetime, pdf: bytes) -> bytes:
    with on(moment):
        return archived(pdf)


def as_of(moment: datetime, pdf: bytes, kept: Sequence[DetachedTimestamp] = ()) -> Verification:
    with on(LAST + DAY):
        return verify(pdf, ROOTS, kept, at=moment)


def test_before_its_seal_a_file_was_not_sealed() -> None:
    for stamps in (True, False):
        pdf = sealed_on(FIRST, stamps=stamps)
        before, after = as_of(FIRST - DAY, pdf), as_of(FIRST + DAY, pdf)
        assert not before.ok and before.verdict.sub_indication == "SIGNED_DATA_NOT_FOUND"
        assert before.findings == ["The file was not sealed yet."] and before.as_of == FIRST - DAY
        assert after.ok and after.as_of == FIRST + DAY and after.level == ("B-T" if stamps else "B-B")


def test_an_archive_timestamp_counts_from_its_time_on() -> None:
    for base in (sealed_on(FIRST), sealed_on(FIRST, long_term=long_term(archive=False))):
        pdf = archived_on(LATER, base)
        between, after = as_of(FIRST + DAY, pdf), as_of(LATER + DAY, pdf)
        assert between.ok and [each.kind for each in between.signatures] == ["seal"], between.findings
        assert after.ok and [each.kind for each in after.signatures] == ["seal", "document timestamp"]
        assert between.covers_whole_file and not between.changes


def test_long_term_data_of_others_before_it_does_not_count_either() -> None:
    """The data stands in a revision of its own, which only the later timestamp covers."""
    with on(LATER):
        listed = store(crls=[revocation_list(OWN, LATER)])
    pdf = archived_on(LATER, revised(sealed_on(FIRST), listed))
    between, after = as_of(FIRST + DAY, pdf), as_of(LATER + DAY, pdf)
    assert between.ok and between.level == "B-T", between.findings
    assert after.ok and after.level == "B-LTA" and len(after.signatures) == 2


def test_a_revocation_that_was_told_later_did_not_count_then() -> None:
    """Nobody could know of the revocation yet, although it names an earlier time."""
    pdf = sealed_on(FIRST)
    with on(LATER):
        told = revised(pdf, store(crls=[revoking(OWN.sealing_key.certificate, FIRST - DAY / 2)]))
        told = archived(told)
    now = as_of(LAST, told)
    assert now.verdict.sub_indication == "REVOKED_NO_POE"
    assert as_of(FIRST + DAY, told).ok


def test_a_later_signature_does_not_count_yet() -> None:
    pdf = sealed_on(LATER, sealed_on(FIRST))
    between, after = as_of(FIRST + DAY, pdf), as_of(LATER + DAY, pdf)
    assert between.ok and len(between.signatures) == 1 and between.signed_at == FIRST
    assert after.ok and len(after.signatures) == 2


def test_an_alteration_counts_where_nobody_knows_when_it_was_made() -> None:
    altered = revised(sealed_on(FIRST), revisions.content)
    for pdf in (altered, archived_on(LATER, altered)):
        found = as_of(FIRST + DAY, pdf)
        assert found.verdict.indication == "TOTAL-FAILED" and found.altered, found.findings


def test_an_alteration_after_a_later_timestamp_was_not_there_then() -> None:
    pdf = revised(archived_on(LATER, sealed_on(FIRST)), revisions.content)
    assert as_of(LATER + DAY, pdf).verdict.indication == "TOTAL-FAILED"
    assert as_of(FIRST + DAY, pdf).ok


def test_a_later_signature_of_a_stranger_hides_no_alteration() -> None:
    altered = revised(sealed_on(FIRST), revisions.content)
    pdf = sealed_on(LATER, altered, key=authority("rsa-3072").sealing_key)
    assert not as_of(FIRST + DAY, pdf).ok


def test_a_seal_that_is_not_trusted_any_more_does_not_count_before_it_was_made() -> None:
    for stamps in (True, False):
        pdf = sealed_on(LATER, stamps=stamps)
        with on(LATER):
            listed = store(crls=[revoking(OWN.sealing_key.certificate, FIRST - DAY / 2)])
        found = as_of(FIRST + DAY, archived_on(LATER, revised(pdf, listed)))
        assert found.verdict.indication == "INDETERMINATE", found.findings


def test_certificates_are_judged_as_of_then() -> None:
    pdf = sealed_on(FIRST, stamps=False)
    with on(LAST + 365 * 11 * DAY):
        assert verify(pdf, ROOTS).verdict.sub_indication == "OUT_OF_BOUNDS_NO_POE"
        assert verify(pdf, ROOTS, at=LAST).ok


def test_timestamps_beside_the_file_count_from_their_time_on() -> None:
    pdf = sealed_on(FIRST, stamps=False)
    kept: list[DetachedTimestamp] = []
    for moment in (LATER, LAST):
        with on(moment):
            stamp, _ = stamp_time(imprint(pdf, kept), timestamping())
            assert stamp is not None
            kept.append(DetachedTimestamp(stamp.token))
    for moment, count in ((FIRST + DAY, 0), (LATER + DAY, 1), (LAST + DAY, 2)):
        found = as_of(moment, pdf, kept)
        assert found.ok and len(found.detached_timestamps) == count, found.findings
    assert not as_of(LAST + DAY, pdf, kept[::-1]).ok


def test_a_proof_with_its_files_as_of_then() -> None:
    files = {"proof": proven(evidence()), "signed": signed(), "uploaded": uploaded()}
    with on(LAST):
        assert check_evidence(files, ROOTS, at=LATER).ok
        before = check_evidence(files, ROOTS, at=NOW - 3650 * DAY)
    assert before.verdict.indication == "INDETERMINATE" and before.to_json()["as_of"].startswith("20")
    assert any("was not sealed yet" in problem for problem in before.problems)


def test_in_the_sandbox_it_is_the_same() -> None:
    made = verify(stamped(), ROOTS).signed_at
    assert made is not None
    for at in (made - DAY, made):
        assert sandboxed(stamped(), ROOTS, at=at).to_json() == verify(stamped(), ROOTS, at=at).to_json()
    assert sandboxed(b"hello", ROOTS, at=made).as_of == made
    with pytest.raises(ValueError, match="still to come"):
        sandboxed(stamped(), ROOTS, at=clock.now() + DAY)
