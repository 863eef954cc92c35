"""Timestamps beside a file: what they prove, for how long, and every way in which they can be wrong."""

import hashlib
import json
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.detached_timestamps import (
    DetachedTimestamp,
    DetachedTimestampsRefused,
    imprint,
    read_timestamps_file,
    timestamps_file,
)
from paraph.pdf.timestamps.timestamp import Timestamping, stamp_time
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge
from tests.pdf.levels import long_term, sealed_at_the_highest
from tests.pdf.pdf_factory import flipped, paper
from tests.pdf.revisions import revoking
from tests.pdf.sealed_files import LETTER, OWN, ROOTS, root_file, sealed, timestamping
from tests.pdf.verification.test_evidence_check import evidence, proven, signed, uploaded

YEAR = timedelta(days=365)


@cache
def bare() -> bytes:
    """Return a file that was sealed while no timestamp authority answered."""
    return sealed(LETTER, at=clock.now()).content


def record(
    pdf: bytes, earlier: Sequence[DetachedTimestamp] = (), stamping: Timestamping | None = None
) -> DetachedTimestamp:
    stamp, failures = stamp_time(imprint(pdf, earlier), stamping or timestamping())
    assert stamp is not None, failures
    return DetachedTimestamp(stamp.token, long_term().collect((OWN.sealing_key.certificate, OWN.root)).data)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> "list[timedelta]":
    """Return a list whose sum moves the clock."""
    by, real = list[timedelta](), clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + sum(by, timedelta(0)))
    return by


def test_a_late_timestamp_proves_that_the_seal_existed(moved: list[timedelta]) -> None:
    late = record(bare())
    found = verify(bare(), ROOTS, [late])
    assert found.ok and found.level == "B-B" and len(found.detached_timestamps) == 1
    assert any(sentence.startswith("Timestamped beside the file, as it is now, on ") for sentence in found.findings)
    assert found.to_json()["kept_timestamps"][0]["authority"] == "Paraph Development Timestamp Authority"
    moved.append(11 * YEAR)  # the certificates of seal and timestamp have ended
    assert not verify(bare(), ROOTS).trusted
    assert verify(bare(), ROOTS, [late]).trusted


def authority_of_years(name: str, years: float) -> Timestamping:
    """Return an authority whose certificate begins now and ends after ``years``."""
    key = ec.generate_private_key(ec.SECP256R1())
    purposes = [ExtendedKeyUsageOID.TIME_STAMPING]
    root_key = forge.curve_key("long root")
    own = forge.certificate(name, key, "Long Root", root_key, purposes=purposes, end=years * YEAR)
    return Timestamping([BuiltInAuthority(LocalKey(key, [own, long_root()]))], [forge.der_of(long_root())])


@cache
def long_root() -> x509.Certificate:
    key = forge.curve_key("long root")
    return forge.certificate("Long Root", key, "Long Root", key, ca=True, end=90 * YEAR)


def test_renewals_carry_a_file_through_the_decades(moved: list[timedelta]) -> None:
    """Each renewal comes before the last one expires; one that comes too late preserves nothing."""
    roots = [OWN.root, forge.der_of(long_root())]
    pdf = sealed_at_the_highest()
    kept: list[DetachedTimestamp] = []
    for number in range(3):
        moved.append(9 * YEAR)
        kept.append(record(pdf, kept, authority_of_years(f"Authority {number}", 10)))
    found = verify(pdf, roots, kept)
    assert found.ok and found.level == "B-LTA" and len(found.detached_timestamps) == 3
    assert not any("has expired since" in sentence for sentence in found.findings)
    assert sum("has expired since" in sentence for sentence in verify(pdf, roots, kept[:1]).findings) == 1
    assert sum("has expired since" in sentence for sentence in verify(pdf, roots).findings) == 1
    moved.append(11 * YEAR)
    kept.append(record(pdf, kept, authority_of_years("Too late", 10)))
    found = verify(pdf, roots, kept)
    assert [s for s in found.findings if "expired" in s] == [
        'The certificate of the timestamp authority "Authority 2" has expired since; '
        "an archive timestamp before that would have preserved the proof."
    ]


def test_openssl_agrees(tmp_path: Path) -> None:
    first = record(bare())
    second = record(bare(), [first])
    for token, data in ((first.token, bare()), (second.token, bare() + first.encoded)):
        independent.assert_timestamped(token, data, root_file(tmp_path), tmp_path)


def test_records_that_were_changed_do_not_count() -> None:
    first = record(bare())
    second = record(bare(), [first])
    assert verify(bare(), ROOTS, [first, second]).ok
    for name, changed in {
        "of another file": [record(paper()), first, second],
        "one left out": [second],
        "exchanged": [second, first],
        "other statuses": [DetachedTimestamp(first.token, LongTermData()), second],
        "flipped": [DetachedTimestamp(flipped(first.token, -20), first.statuses), second],
    }.items():
        found = verify(bare(), ROOTS, changed)
        assert not found.ok and len(found.detached_timestamps) < 2, name
        assert any("beside the file does not count" in sentence for sentence in found.findings), name


def test_a_stranger_and_an_older_one_do_not_count(moved: list[timedelta]) -> None:
    strange = record(bare(), (), Timestamping([forge.Forge()], [forge.der_of(forge.root())]))
    assert not verify(bare(), ROOTS, [strange]).ok
    first = record(bare())
    moved.append(timedelta(hours=-1))
    assert verify(bare(), ROOTS, [first, record(bare(), [first])]).detached_timestamps_hold is False


def test_an_authority_that_was_revoked_before_does_not_count() -> None:
    token, key = record(bare()).token, OWN.timestamp_key.certificate
    for ago, holds in ((timedelta(days=1), False), (timedelta(minutes=-5), True)):
        stated = LongTermData(crls=(revoking(key, clock.now() - ago),))
        found = verify(bare(), ROOTS, [DetachedTimestamp(token, stated)])
        assert (found.ok, len(found.detached_timestamps)) == (holds, int(holds))
        assert holds or any(
            "beside the file does not count: " in each and "was revoked on" in each for each in found.findings
        )


def test_the_file_of_records_and_a_lone_token(tmp_path: Path) -> None:
    digest, late = hashlib.sha256(bare()).digest(), record(bare())
    content = timestamps_file({digest: ("contract.pdf", [late])})
    assert json.loads(content)["files"][0]["name"] == "contract.pdf"
    assert read_timestamps_file(content, bare()) == (late,) and read_timestamps_file(content, b"another") == ()
    assert read_timestamps_file(late.token, bare()) == (DetachedTimestamp(late.token),)
    assert read_timestamps_file(late.token, b"another") == ()
    assert read_timestamps_file(b"0 is no token", b"another") == (DetachedTimestamp(b"0 is no token"),)
    renewal = record(bare(), [late])
    assert read_timestamps_file(renewal.token, bare()) == ()
    assert read_timestamps_file(renewal.token, bare(), [late]) == (DetachedTimestamp(renewal.token),)
    wrong = json.loads(content)
    wrong["files"][0]["records"][0]["token"] = "not base64!"
    for bad in (b"", b"[]", b"{", b'{"format": "other"}', b"\xff", json.dumps(wrong).encode(), b"[" * 100_000):
        with pytest.raises(DetachedTimestampsRefused):
            read_timestamps_file(bad, bare())


def test_a_proof_tied_with_its_timestamps() -> None:
    proof = proven(evidence())
    files = {"proof.pdf": proof, "signed.pdf": signed(), "uploaded.pdf": uploaded()}
    kept = {name: [record(files[name])] for name in ("proof.pdf", "signed.pdf")}
    result = check_evidence(files, ROOTS, kept)
    assert result.ok and sum("was timestamped beside the file on" in sentence for sentence in result.matches) == 2
    assert not check_evidence(files, ROOTS, {"signed.pdf": kept["proof.pdf"]}).ok
