"""What the service gives out ties together, offline: several documents, equal uploads, files that had to be rewritten,
timestamps or none, and every level."""

from typing import Any

import pytest

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import prove, seal
from paraph.kernel import tokens
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import evidence_of
from paraph.storage import store
from tests.factories import Scene, scene, sign
from tests.pdf.pdf_factory import paper, text


def finished(made: Scene) -> dict[str, bytes]:
    """The proof, and of each document the signed and the uploaded file."""
    for position in range(len(made.signers)):
        sign(made, position)
    for row in made.request_documents:
        if not SealedDocument.objects.filter(request_document=row).exists():
            seal(row.pk)
    if not ProofFile.objects.exists():
        prove(made.request.pk)
    files = {"proof.pdf": store.get(ProofFile.objects.get().object_key)}
    for number, row in enumerate(made.request_documents, start=1):
        files[f"signed-{number}.pdf"] = store.get(SealedDocument.objects.get(request_document=row).object_key)
        files[f"uploaded-{number}.pdf"] = store.get(row.document.object_key)
    return files


def tied(files: dict[str, bytes]) -> EvidenceCheck:
    return check_evidence(files, sealing_context().roots("sandbox"))


def replace_upload(made: Scene, number: int, content: bytes) -> None:
    document = made.request_documents[number - 1].document
    store.put(document.object_key, content)
    document.sha256, document.file_size = tokens.sha256(content), len(content)
    document.save()


@pytest.mark.django_db
def test_several_documents_and_signers() -> None:
    files = finished(scene(signers=3, documents=3))
    result = tied(files)
    assert result.ok, result.problems
    assert sum("begins with" in sentence for sentence in result.matches) == 3
    assert sum("certificates of signed-" in sentence for sentence in result.matches) == 3
    del files["signed-2.pdf"]
    fewer = tied(files)
    assert fewer.ok and [sentence for sentence in fewer.notes if 'the signed file of "contract-2.pdf"' in sentence]


@pytest.mark.django_db
def test_two_documents_of_the_same_bytes() -> None:
    """Whether the upload is given once or twice."""
    made = scene(documents=2)
    replace_upload(made, 2, made.uploads[0])
    files = finished(made)
    assert files["uploaded-1.pdf"] == files["uploaded-2.pdf"]
    assert tied(files).ok, tied(files).problems
    del files["uploaded-1.pdf"]
    assert tied(files).ok, tied(files).problems


@pytest.mark.django_db
def test_an_upload_that_had_to_be_rewritten(made: Scene) -> None:
    damaged = paper(text("A contract", 72, 700)).replace(b"endobj", b"endobx", 1)
    replace_upload(made, 1, damaged)
    files = finished(made)
    assert SealedDocument.objects.get().facts["method"] == "normalised"
    assert not files["signed-1.pdf"].startswith(damaged)
    result = tied(files)
    assert result.ok, result.problems
    assert "uploaded-1.pdf had to be rewritten before it was sealed, as the journal says." in result.matches


@pytest.mark.django_db
@pytest.mark.parametrize("level", ["B-B", "B-T", "B-LTA"])
def test_the_evidence_holds_the_certificates_of_every_level(level: str, settings: Any) -> None:
    fields: dict[str, Any] = {"seal_level": level} | ({"timestamp_authorities": []} if level == "B-B" else {})
    settings.PARAPH = settings.PARAPH.model_copy(update=fields)
    files = finished(scene())
    result, evidence = tied(files), evidence_of(files["proof.pdf"])
    assert result.ok, result.problems
    assert evidence is not None
    (document,) = evidence["documents"]
    kinds = {"B-B": {"seal"}, "B-T": {"seal", "timestamp"}, "B-LTA": {"seal", "timestamp", "archive_timestamp"}}
    assert set(document["certificates"]) == kinds[level] and document["seal"]["level"] == level
    assert "certificates" not in document["seal"]
    assert set(evidence["certificates"]) == {digest for chain in document["certificates"].values() for digest in chain}
