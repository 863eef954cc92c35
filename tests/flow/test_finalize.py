"""The job of each document: seal, and by the last of them proof and publication."""

from collections.abc import Callable
from typing import Any

import pytest

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.sealing import finalize as steps
from paraph.flow.sealing.finalize import finalize, seal
from paraph.signature_requests.models import SignatureRequest
from tests.factories import Scene
from tests.flow.test_seal import completed
from tests.flow.test_sign import at_once


def ends(made: Scene) -> tuple[bool, int]:
    """Whether it is finalized, and how often it was proven."""
    return SignatureRequest.objects.get().finalized, made.events().count("signature_request.certificate_issued")


@pytest.mark.django_db
def test_the_last_document_brings_the_proof() -> None:
    made = completed(documents=2)
    finalize(made.request_documents[0].pk)
    assert not ProofFile.objects.exists()
    finalize(made.request_documents[1].pk)
    assert ends(made) == (True, 1)
    for row in made.request_documents:
        finalize(row.pk)
    assert ends(made) == (True, 1)


@pytest.mark.django_db
@pytest.mark.parametrize("dies_in", ["prove", "publish"])
def test_after_a_crash_the_same_job_goes_on(dies_in: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = completed()

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(steps, dies_in, die)
        finalize(made.request_documents[0].pk)
    assert SealedDocument.objects.count() == 1 and not SignatureRequest.objects.get().finalized
    finalize(made.request_documents[0].pk)
    assert ends(made) == (True, 1)
    assert made.events().count("signature_request.pades_signed") == 1


@pytest.mark.django_db
def test_a_document_that_cannot_be_sealed_keeps_the_proof_back() -> None:
    made = completed(documents=2)
    finalize(made.request_documents[1].pk)
    assert ends(made) == (False, 0)
    seal(made.request_documents[0].pk)
    finalize(made.request_documents[1].pk)
    assert ends(made) == (True, 1)


@pytest.mark.django_db(transaction=True)
def test_the_last_two_at_once_bring_one_proof() -> None:
    made = completed(documents=2)

    def work(row: Any) -> Callable[[], None]:
        return lambda: finalize(row.pk)

    at_once(*map(work, made.request_documents))
    assert ends(made) == (True, 1)
