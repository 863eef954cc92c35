"""A template keeps its files, and no longer than it stands."""

import pytest

from paraph.documents.models import Document, ObjectToDelete
from paraph.drafts.models import Draft
from paraph.flow.housekeeping.delete_files import delete_files
from paraph.flow.housekeeping.unused_documents import UNUSED_FOR, delete_unused_uploads
from paraph.flow.sending.templates import delete_template
from paraph.kernel import clock
from paraph.request_templates.models import Template
from paraph.signature_requests.models import SignatureRequest
from tests.drafts.author import author
from tests.request_templates.kept import template_of

pytestmark = pytest.mark.django_db


def test_a_document_of_a_template_is_used() -> None:
    charles = author()
    template = template_of(charles)
    Draft.objects.all().delete()
    Document.objects.update(created_at=clock.now() - UNUSED_FOR * 2)
    assert delete_unused_uploads() == 0
    delete_template(charles.scope, template.pk, charles.actor)
    assert delete_unused_uploads() == 1


def test_files_of_a_template_outlive_the_retention_of_requests() -> None:
    charles = author()
    template = template_of(charles)
    draft = Draft.objects.get()
    request = SignatureRequest.objects.get(pk=charles.send(draft))
    SignatureRequest.objects.filter(pk=request.pk).update(status="expired")
    assert delete_files(request.pk)
    assert Document.objects.get().file_deleted_at is None and not ObjectToDelete.objects.exists()
    delete_template(charles.scope, template.pk, charles.actor)
    document = Document.objects.get()
    assert document.file_deleted_at
    assert document.object_key in ObjectToDelete.objects.values_list("object_key", flat=True)


def test_files_of_a_request_stay_when_a_template_goes() -> None:
    charles = author()
    template = template_of(charles)
    charles.send(Draft.objects.get())
    delete_template(charles.scope, template.pk, charles.actor)
    assert Document.objects.get().file_deleted_at is None


def test_a_template_of_another_organization_stays() -> None:
    charles, stranger = author(), author()
    delete_template(stranger.scope, template_of(charles).pk, stranger.actor)
    assert Template.objects.exists()
