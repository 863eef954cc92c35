"""Long-term data, archive timestamps, revocation: the upper PAdES levels."""

import asyncio
import io
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pikepdf
import pytest
from asn1crypto import tsp
from cryptography import x509
from pikepdf import Array, Dictionary
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import PdfTimeStamper
from pyhanko.sign.timestamps import TimeStamper

from paraph.kernel import clock
from paraph.keys.development import certificate_status, revocation_list
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import TimestampAuthority
from paraph.pdf.verification.verify import verify
from tests.pdf import forge
from tests.pdf.forge import Forge
from tests.pdf.pdf_factory import paper, text
from tests.pdf.revisions import Change, revised
from tests.pdf.sealed_files import authority, sealed, timestamping
from tests.pdf.surroundings import signature, signed_by
from tests.pdf.verification.test_verify import need_appearances, version

OWN = authority("p-256")
ROOTS = [OWN.root]


@pytest.fixture
def stamped() -> bytes:
    return sealed(paper(text("A contract", 100, 700)), at=clock.now(), timestamping=timestamping()).content


def store(*, crls: Sequence[bytes] = (), ocsps: Sequence[bytes] = ()) -> Change:
    """A change that adds a document security store."""

    def change(document: pikepdf.Pdf) -> list[pikepdf.Object]:
        lists = {"CRLs": [document.make_stream(crl) for crl in crls],
                 "OCSPs": [document.make_stream(answer) for answer in ocsps]}  # fmt: skip
        document.Root.DSS = Dictionary({f"/{key}": Array(streams) for key, streams in lists.items() if streams})
        return [document.Root, *lists["CRLs"], *lists["OCSPs"]]

    return change


class _Stamper(TimeStamper):
    """pyHanko's client over one of our authorities."""

    def __init__(self, answers: TimestampAuthority) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # pyHanko annotates nothing here
        self.answers = answers

    async def async_request_tsa_response(self, req: Any) -> Any:
        return tsp.TimeStampResp.load(self.answers.answer(req.dump(), 1))


def archived(pdf: bytes, answers: TimestampAuthority | None = None) -> bytes:
    """With a document timestamp, written by pyHanko."""
    writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
    stamper = PdfTimeStamper(_Stamper(answers or BuiltInAuthority(OWN.timestamp_key)))
    output = io.BytesIO()
    asyncio.run(stamper.async_timestamp_pdf(writer, "sha256", validation_context=None, output=output))
    return output.getvalue()


def by_answers(moment: datetime) -> Change:
    keys = (OWN.sealing_key, OWN.timestamp_key)
    return store(ocsps=[certificate_status(OWN, key.certificate, moment) for key in keys])


def by_list(moment: datetime) -> Change:
    return store(crls=[revocation_list(OWN, moment)])


@pytest.mark.parametrize("data", [by_answers, by_list])
def test_the_levels_one_after_the_other(stamped: bytes, data: Any) -> None:
    assert verify(stamped, ROOTS).level == "B-T"
    long_term = revised(stamped, data(clock.now()))
    found = verify(long_term, ROOTS)
    assert found.level == "B-LT" and not found.altered and not found.covers_whole_file and not found.ok
    assert found.changes == ("Long-term validation data was added after Seal.",)
    assert f"From byte {len(stamped)} on, no trusted signature or timestamp covers the file." in found.findings
    archive = archived(long_term)
    found = verify(archive, ROOTS)
    assert found.level == "B-LTA" and found.ok and found.covers_whole_file
    assert [report.kind for report in found.signatures] == ["seal", "document timestamp"]
    assert found.signatures[1].timestamp is not None and found.signatures[1].level == ""


def test_data_that_is_missing_old_or_somebody_elses_proves_nothing(stamped: bytes) -> None:
    now, stranger = clock.now(), authority("rsa-3072")
    half = store(ocsps=[certificate_status(OWN, OWN.sealing_key.certificate, now)])
    old = by_list(now - timedelta(days=30))
    elsewhere = store(crls=[revocation_list(stranger, now)])
    forged = store(ocsps=[certificate_status(stranger, OWN.sealing_key.certificate, now)])
    garbage = store(crls=[b"garbage"], ocsps=[b"garbage"])
    for change in (half, old, elsewhere, forged):
        found = verify(archived(revised(stamped, change)), ROOTS)
        assert found.ok and found.level == "B-T"
    found = verify(archived(revised(stamped, garbage)), ROOTS)
    assert found.altered and not found.ok


def test_an_archive_timestamp_without_long_term_data_is_no_more_than_a_timestamp(stamped: bytes) -> None:
    found = verify(archived(stamped), ROOTS)
    assert found.ok and found.level == "B-T" and found.covers_whole_file
    bare = sealed(paper(text("A contract", 100, 700)), at=clock.now()).content
    assert verify(archived(bare), ROOTS).level == "B-T"


def test_data_added_after_the_archive_timestamp_is_not_archived(stamped: bytes) -> None:
    found = verify(revised(archived(stamped), by_answers(clock.now())), ROOTS)
    assert found.level == "B-LT" and not found.altered and not found.covers_whole_file and not found.ok


def test_long_term_data_may_still_be_added_beside_a_broken_signature() -> None:
    content = sealed(signed_by(signature()), at=clock.now()).content
    found = verify(archived(revised(content, by_list(clock.now()))), ROOTS)
    assert found.ok and found.covers_whole_file and len(found.changes) == 2


def test_an_archive_timestamp_by_a_stranger_is_not_trusted(stamped: bytes) -> None:
    found = verify(archived(stamped, Forge()), ROOTS)
    assert found.intact and not found.trusted and not found.ok


def test_an_archive_timestamp_that_was_altered_is_not_intact(stamped: bytes) -> None:
    archive = archived(stamped)
    end = int(re.findall(rb"/ByteRange \[\d+ \d+ (\d+) ", archive)[-1]) - 1
    last = len(archive[:end].rstrip(b"0")) - 1  # digit of the token, which is one of its signature
    digit = b"1" if archive[last : last + 1] != b"1" else b"2"
    found = verify(archive[:last] + digit + archive[last + 1 :], ROOTS)
    assert not found.intact and not found.ok


def test_an_archive_timestamp_proves_when_an_unstamped_seal_existed(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = sealed(paper(text("A contract", 100, 700)), at=clock.now()).content
    archive = archived(bare)
    later = clock.now() + timedelta(days=365 * 11)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert not verify(bare, ROOTS).trusted
    assert verify(archive, ROOTS).trusted


@pytest.mark.parametrize("change", [version, need_appearances])
def test_an_archive_timestamp_hides_no_change_of_how_viewers_read_the_file(stamped: bytes, change: Change) -> None:
    assert verify(archived(stamped), ROOTS).ok  # though its program raises the version for the timestamp
    found = verify(archived(revised(stamped, change)), ROOTS)
    assert found.altered and not found.ok


def test_revoked_before_the_seal_is_not_trusted_and_after_it_is(stamped: bytes) -> None:
    for name, certificate in (("Seal", OWN.sealing_key.certificate), ("Timestamp", OWN.timestamp_key.certificate)):
        before = archived(revised(stamped, store(crls=[revoking(certificate, clock.now() - timedelta(days=1))])))
        found = verify(before, ROOTS)
        assert found.intact and not found.trusted
        assert any("was revoked on" in sentence and name in sentence for sentence in found.findings)
        after = archived(revised(stamped, store(crls=[revoking(certificate, clock.now() + timedelta(minutes=5))])))
        assert verify(after, ROOTS).ok


def revoking(certificate: bytes, when: datetime) -> bytes:
    """A list of the development root that names a certificate."""
    own, root = x509.load_der_x509_certificate(certificate), x509.load_der_x509_certificate(OWN.root)
    entry, days = forge.revoked(own, when), timedelta(days=2)
    return forge.der_of(forge.revocation_list(root, OWN.root_key.private_key, entry, ago=days, holds=days))
