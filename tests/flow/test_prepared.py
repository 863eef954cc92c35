"""An upload that cannot be extended as it is: one file stands in for it from the upload to the proof."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from paraph.audit_trail.models import Entry
from paraph.documents.models import Document
from paraph.evidence.models import SealedDocument
from paraph.flow.housekeeping import sweep as sweeping
from paraph.flow.housekeeping.sweep import sweep_store
from paraph.flow.sending.create import Sender, create
from paraph.flow.sending.upload import IncomingFile, upload
from paraph.kernel import tokens
from paraph.pdf.untrusted.page_reading import render_page
from paraph.signature_requests.input import Assignment, DocumentInput, MagicFieldStamp, Tag
from paraph.signature_requests.placing import place
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import payload
from tests.factories import VISITOR, Scene, scene
from tests.flow.test_evidence_tied import finished, tied
from tests.flow.test_sweep import made_older, there
from tests.pdf.pdf_factory import paper, text

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
