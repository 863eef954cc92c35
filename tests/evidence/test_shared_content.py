"""Content that many seals share is kept once, is read back unchanged for each of them, and goes with the last."""

import base64
import threading
from dataclasses import replace
from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction

from paraph.database.rows import kept_once
from paraph.evidence import failures, sealed_files
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure, SharedContent
from paraph.evidence.sealed_files import forget_unused, record_sealed_document, seal_facts
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import _sealed_document, seal
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.timestamps.timestamp import stamp_time
from tests.factories import finish, scene
from tests.flow.test_seal import completed
from tests.threads import at_once

pytestmark = pytest.mark.django_db

CONTENT = {"facts": {"level": "B-T"}, "certificates": {"seal": ["AAAA"]}}


def test_requests_share_what_is_alike_and_the_last_takes_it_along() -> None:
    first, second = finish(scene()), finish(scene())
    rows = [*SealedDocument.objects.all(), *ProofFile.objects.all()]
    assert len(rows) == 4 and SharedContent.objects.count() == len({row.shared_id for row in rows}) == 2
    assert forget_unused() == 0
    assert delete_files(first.request.pk)
    assert forget_unused() == 0
    assert delete_files(second.request.pk)
    assert forget_unused() == 2 and not SharedContent.objects.exists()


def test_a_row_states_its_seal_whole() -> None:
    made = completed()
    row = made.request_documents[0]
    sealed = replace(_sealed_document(row), kms_request_id="r-1", level_reasons=("No status.",))
    assert record_sealed_document(row, sealed, "sealed/x.pdf", "B-LTA")
    kept = SealedDocument.objects.get()
    stamp = sealed.timestamp
    assert stamp
    exact = {
        "sealed_at": clock.iso_milliseconds(sealed.sealed_at),
        "timestamped_at": clock.iso_milliseconds(stamp.time),
    }
    assert kept.facts == seal_facts(sealed) | exact
    assert "signing_algorithm" not in kept.seal and kept.seal["level_reasons"] == ["No status."]
    chains = {
        kind: [base64.b64decode(link) for link in links] for kind, links in kept.shared.content["certificates"].items()
    }
    assert chains == {
        "seal": list(sealed.certificates),
        "timestamp": list(stamp.chain),
        "archive_timestamp": list(sealed.archive.chain if sealed.archive else ()),
    }
    assert sealed_files.key_chain(kept) == [sealed.certificates]


def test_a_timestamp_beside_a_file_comes_back_as_it_was_kept() -> None:
    seal(completed().request_documents[0].pk)
    file = SealedDocument.objects.get()
    stamp, _ = stamp_time(bytes(32), sealing_context().timestamping)
    assert stamp
    records = []
    for statuses in (
        LongTermData((b"b", b"a"), (b"list",), ()),
        LongTermData((b"b", b"a"), (b"list",), ()),
        LongTermData(),
    ):
        records.append(DetachedTimestamp(stamp.token, statuses))
        sealed_files.keep(file, records[:-1], records[-1], stamp)
    assert sealed_files.records_of(file.object_key) == records
    assert SharedContent.objects.count() == 3  # one of the seal, one of two timestamps, one of the last


def test_nothing_that_is_referred_to_can_go() -> None:
    seal(completed().request_documents[0].pk)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM evidence_sharedcontent")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.django_db(transaction=True)
def test_what_a_seal_is_about_to_use_stays() -> None:
    number = kept_once(SharedContent, CONTENT)
    forgotten: list[int] = []

    def forget() -> None:
        forgotten.append(forget_unused())
        connection.close()

    with transaction.atomic():
        assert kept_once(SharedContent, CONTENT) == number
        thread = threading.Thread(target=forget)
        thread.start()
        thread.join()
    assert forgotten == [0]
    assert forget_unused() == 1
    assert kept_once(SharedContent, CONTENT) != number


@pytest.mark.django_db(transaction=True)
def test_those_that_come_first_at_once_share_one() -> None:
    assert len(set(at_once(*[partial(kept_once, SharedContent, CONTENT)] * 4))) == 1
    assert SharedContent.objects.count() == 1


def test_why_a_request_is_not_finalized_is_noted_with_each_attempt() -> None:
    request = scene().request
    with failures.noted(request.pk, "seal"):
        pass
    assert not SealingFailure.objects.exists(), "what goes well is not noted"
    with pytest.raises(OSError, match="full"), failures.noted(request.pk, "seal"):
        raise OSError("disk full\0")
    with pytest.raises(DomainError), failures.noted(request.pk, "publish"):
        raise DomainError("internal_error", "The seal does not validate.")
    failure = SealingFailure.objects.get()
    assert (failure.stage, failure.cause, failure.attempts) == ("publish", "The seal does not validate.", 2)
    with pytest.raises(KeyError), failures.noted(request.pk, "prove"):
        raise KeyError("x" * 5000)
    cause = SealingFailure.objects.get().cause
    assert cause.startswith("KeyError: ") and len(cause) == 2000, "without a sentence it names its kind"
    failures.clear(request.pk)
    assert not SealingFailure.objects.exists()
