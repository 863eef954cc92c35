"""A request that cannot be finalized is tried again by a real worker, given up, reported and mended."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connections
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from prometheus_client.parser import text_string_to_metric_families

from paraph.audit_trail.journal import broken_at
from paraph.evidence.failures import finalization, given_up, noted, sealing_failures
from paraph.evidence.models import ProofFile, SealingFailure
from paraph.flow.jobs import RETRY
from paraph.flow.sealing.finalize import prove, seal
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.check.backlog import unsealed
from paraph.operations.exposition import exposition
from paraph.operations.pending_work import retry
from paraph.pdf.refusal import ReadersUnavailable, SealError
from paraph.queue.jobs import defer
from paraph.queue.queue_worker import Connector
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from tests.api.v1.api_clients import api_client
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db(transaction=True)


def work(queue: str = "default") -> None:
    """Run a worker that does the jobs due, as ``paraph worker`` does, and then ends."""

    async def run() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        worker = app.with_connector(Connector(4, lambda: None, lambda: None))
        async with worker.open_async():
            await worker.run_worker_async(
                queues=[queue],
                wait=False,
                listen_notify=False,
                install_signal_handlers=False,
                delete_jobs="successful",
            )
        await asyncio.to_thread(connections.close_all)  # those that jobs opened
        await sync_to_async(connections.close_all)()  # those of periodic jobs, which another thread defers

    asyncio.run(run())


def attempts(count: int) -> None:
    """Make every job look as if it had been tried so often and were due again."""
    ProcrastinateJob.objects.all().update(attempts=count, scheduled_at=None)


def changed_upload() -> tuple[Scene, bytes]:
    """Return a signed request whose stored file was replaced by another, and the true content of that file."""
    made = scene()
    sign(made)
    key = made.request_documents[0].document.object_key
    content = store.get(key)
    store.put(key, b"something else")
    return made, content


def figures() -> dict[str, float]:
    families = text_string_to_metric_families(exposition().decode())
    return {sample.name: sample.value for family in families for sample in family.samples}


def told(made: Scene) -> Any:
    """Return what the client reads about finalization in the completion entry of the audit log; None if nothing."""
    path = f"/signature_requests/{made.request.pk}/audit_logs"
    entries = api_client("pro", "sandbox", made.request.organization).get(path).json()["data"]
    (completed,) = [entry["metadata"] for entry in entries if entry["event_type"] == "request.completed"]
    assert all("finalization" not in entry["metadata"] for entry in entries if entry["metadata"] is not completed)
    return completed.get("finalization")


def gave_up(caplog: pytest.LogCaptureFixture) -> list[Any]:
    lines: list[Any] = [record.msg for record in caplog.records if record.name == "paraph.job"]
    return [line for line in lines if line["event"] == "job gave up"]


CAUSE = "A stored file is not the one that was put there."


def test_it_is_tried_again_its_client_reads_why_and_a_lost_job_counts_as_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made, _ = changed_upload()
    assert told(made) is None
    work()
    failed_at = clock.iso(SealingFailure.objects.get().failed_at)
    facts = {"stage": "seal", "cause": CAUSE, "attempts": 1, "failed_at": failed_at}
    assert told(made) == {"state": "retrying", **facts}
    assert gave_up(caplog) == []
    assert figures()["paraph_sealing_failures"] == 1 and figures()["paraph_sealing_failures_given_up"] == 0
    (row,) = sealing_failures(given_up_only=False, limit=10)
    assert not row["given_up"] and sealing_failures(given_up_only=True, limit=10) == []
    ProcrastinateJob.objects.all()._raw_delete("default")
    (row,) = sealing_failures(given_up_only=True, limit=10)
    assert row["request_id"] == made.request.pk and told(made)["state"] == "given_up", "its job was lost"


def test_it_is_given_up_told_once_and_mended(caplog: pytest.LogCaptureFixture) -> None:
    made, content = changed_upload()
    before = made.entries()[-1].metadata
    attempts(RETRY.attempts)
    work()
    work()
    (line,) = gave_up(caplog)
    assert (line["level"], line["task"], line["signature_request"]) == ("error", "finalize", made.request.pk)
    assert line["cause"].endswith("is not the one that was shown.") and line["attempts"] == RETRY.attempts + 1
    kept_back = told(made)
    assert (kept_back["state"], kept_back["cause"]) == ("given_up", CAUSE)
    assert figures()["paraph_sealing_failures_given_up"] == 1
    outcome = unsealed()
    assert outcome.status == "failed"
    assert outcome.sentence.startswith("1 completed request was given up") and "list --failed" in outcome.sentence
    (row,) = sealing_failures(given_up_only=True, limit=10)
    assert (row["organization"], row["environment"], row["given_up"]) == ("Acme Ltd", "sandbox", True)
    assert row["cause"].endswith("is not the one that was shown.")
    assert broken_at(made.entries()) is None and made.entries()[-1].metadata == before

    store.put(made.request_documents[0].document.object_key, content)
    assert [step.outcome for step in retry(made.request.pk)] == ["deferred"]
    assert told(made)["state"] == "retrying"
    work()
    assert SignatureRequest.objects.get(pk=made.request.pk).finalized
    assert told(made) is None and sealing_failures(given_up_only=False, limit=10) == []
    assert figures()["paraph_sealing_failures_given_up"] == 0
    outcome = unsealed()
    assert outcome.status == "ok"


def test_one_document_of_two_is_enough() -> None:
    made = scene(documents=2)
    sign(made)
    store.put(made.request_documents[0].document.object_key, b"something else")
    attempts(RETRY.attempts)
    work()
    assert told(made)["state"] == "given_up" and len(given_up()) == 1


def test_a_proof_that_cannot_be_stored_again() -> None:
    """Publishing follows the seals, and any job of the request may do it."""
    made = scene(documents=2)
    sign(made)
    for row in made.request_documents:
        seal(row.pk)
    prove(made.request.pk)
    key = ProofFile.objects.get().object_key
    content = store.get(key)
    store.put(key, b"something else")
    attempts(RETRY.attempts)
    ProcrastinateJob.objects.filter(pk=ProcrastinateJob.objects.latest("id").pk).update(attempts=0)
    work()
    assert (told(made)["stage"], told(made)["state"]) == ("publish", "retrying")
    attempts(RETRY.attempts)
    work()
    assert (told(made)["stage"], told(made)["state"]) == ("publish", "given_up")
    assert key not in told(made)["cause"]
    store.put(key, content)
    retry(made.request.pk)
    work()
    assert told(made) is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (SealError("No page can be drawn on."), "The file cannot be sealed: No page can be drawn on."),
        (DomainError("internal_error", "The stored file sealed/1.pdf is another."), CAUSE),
        (
            DomainError("configuration", "/etc/k.pem cannot be read."),
            "The service is not set up to seal at the moment.",
        ),
        (DomainError("unavailable", "token 7 is gone."), "The sealing key of the service does not answer."),
        (FileNotFoundError("/srv/objects/1.pdf"), "The storage, the database or the network of the service fails."),
        (OperationalError("host db.internal"), "The storage, the database or the network of the service fails."),
        (ReadersUnavailable(), "The machine of the service has no time or memory to seal."),
        (KeyError("secret"), "A fault of the service."),
    ],
)
def test_a_client_is_told_nothing_of_the_machine(error: Exception, sentence: str, made: Scene) -> None:
    with pytest.raises(type(error)), noted(made.request.pk, "seal"):
        raise error
    kept_back = finalization(made.request.pk)
    assert kept_back and kept_back["cause"] == sentence


def test_a_mail_that_is_given_up_names_its_request_and_nobody(caplog: pytest.LogCaptureFixture, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    made = scene(send_email=True)
    defer("invite", signer_id=made.signers[0].pk)
    attempts(RETRY.attempts)
    work("mail")
    (line,) = gave_up(caplog)
    assert (line["task"], line["signature_request"]) == ("invite", made.request.pk)
    assert made.signers[0].email not in str(line)
