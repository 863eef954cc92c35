"""What the service gives out ties together, offline: several documents, equal uploads, files that had to be rewritten,
for which one file stands in from the upload to the proof, timestamps or none, and every level."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from paraph.audit_trail.models import Entry
from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.housekeeping import sweep as sweeping
from paraph.flow.housekeeping.sweep import sweep_store
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import prove, seal
from paraph.flow.sending.create import Sender, create
from paraph.flow.sending.upload import IncomingFile, upload
from paraph.kernel import tokens
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.untrusted.page_reading import render_page
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import evidence_of
from paraph.signature_requests.input import Assignment, DocumentInput, MagicFieldStamp, Tag
from paraph.signature_requests.placing import place
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import payload
from tests.factories import VISITOR, Scene, scene, sign
from tests.flow.test_delete_files import made_older, there
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


pytestmark = pytest.mark.django_db

PLAIN = paper(text("I pay 1 EUR {{sign}}", 72, 700))
STAMP = {"type": "coordinates", "value": {"page_number": 1, "x": 50, "y": 50}}
BEFORE_HEADER = b"a line that no PDF begins with\n" + PLAIN
WRONG_TABLE = re.sub(rb"(?m)^0000000(\d{3}) 00000 n", rb"0000001\1 00000 n", PLAIN)


def uploaded(made: Scene, content: bytes) -> Document:
    """The document of the scene's first row, uploaded as a client would."""
    with store.stage() as draft:
        file = IncomingFile(draft)
        file.write(content)
        document = upload(made.scope(), file, "contract.pdf", "application/pdf")
    row = made.request_documents[0]
    row.document = document
    row.save()
    return document


@pytest.mark.parametrize("content", [BEFORE_HEADER, WRONG_TABLE])
def test_signers_see_what_is_sealed(client: Client, content: bytes, made: Scene) -> None:
    document = uploaded(made, content)
    assert document.method == "normalised" and store.get(document.object_key) == content
    shown = store.get(document.shown_key)
    assert shown != content and tokens.sha256(shown) == document.shown_sha256 and len(shown) == document.prepared_size

    picture = client.get(made.url(rest=f"/documents/{document.pk}/pages/1.webp"))
    assert picture.content == render_page(shown, 1, 2.0)

    files = finished(made)
    signed = files["signed-1.pdf"]
    assert signed.startswith(shown)
    seal = Entry.objects.get(event_type="signature_request.pades_signed").stated
    assert SealedDocument.objects.get().facts["method"] == seal["method"] == "normalised"
    assert seal["uploaded_pdf_sha256"] == tokens.sha256(content).hex()
    assert (seal["prepared_pdf_sha256"], seal["prepared_pdf_size"]) == (tokens.sha256(shown).hex(), len(shown))
    result = tied(files)
    assert result.ok, result.problems
    assert "signed-1.pdf begins with the file that stood in for uploaded-1.pdf, as the journal says." in result.matches


def test_tags_are_searched_in_what_is_sealed() -> None:
    document = uploaded(scene(), BEFORE_HEADER)
    store.delete(document.object_key)
    stamp = MagicFieldStamp(type="magic_field", value=Tag(tag="{{sign}}"))
    given = DocumentInput(id=document.pk, signers=[Assignment(signer_ref="a", stamps=[stamp])])
    assert len(place(given, "documents[0]", document, Problems()).placements) == 1


def test_the_journal_names_it_before_anybody_signs() -> None:
    document = uploaded(scene(), BEFORE_HEADER)
    application = document.organization.applications.get()
    scope = TenantScope(document.organization_id, document.environment, "pro", application.pk)
    stamps = [{"signer_ref": ref, "stamps": [STAMP]} for ref in ("ada", "grace")]
    made = create(
        scope, payload(document.pk) | {"documents": [{"id": document.pk, "signers": stamps}]}, Sender(VISITOR)
    )
    created = Entry.objects.get(request=made, event_type="signature_request.created").metadata
    told = {"document_id": document.pk, **document.preparation_facts()}
    assert created["prepared_documents"] == [told] and "documents" not in created


def test_a_file_that_stands_in_is_kept_as_long_as_its_document() -> None:
    document = uploaded(scene(), BEFORE_HEADER)
    orphan = "prepared/orphan.pdf"
    store.put(orphan, b"x")
    for key in (document.shown_key, orphan):
        made_older(key, sweeping.ORPHANED_FOR + timedelta(minutes=1))
    sweep_store("prepared/", "")
    assert (there(document.shown_key), there(orphan)) == (True, False)
