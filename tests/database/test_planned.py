"""One row with what it refers to, read by a statement of our own, is what Django reads."""

from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from paraph.database.rows import Joined
from paraph.documents.models import Document
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from tests.factories import Scene, scene

pytestmark = pytest.mark.django_db
BY_ID = 'WHERE "self"."id" = %s'


@pytest.fixture
def made() -> Scene:
    return scene()


def columns(row: Model) -> dict[str, tuple[type, Any]]:
    return {name: (type(value), value) for name, value in vars(row).items() if name != "_state"}


def test_it_is_what_select_related_reads(made: Scene) -> None:
    along = ("request", "request__organization", "request__application", "request__branding_profile")
    key = made.signers[0].pk
    found, wanted = Joined(Signer, *along, end=BY_ID).get(key), Signer.objects.select_related(*along).get(pk=key)
    with CaptureQueriesContext(connection) as asked:
        pairs = [(found, wanted), (found.request, wanted.request)]
        pairs.append((found.request.organization, wanted.request.organization))
        assert found.request.branding_profile is None and found.request.application == wanted.request.application
    assert [columns(ours) for ours, _ in pairs] == [columns(theirs) for _, theirs in pairs]
    assert not asked.captured_queries


def test_json_is_read_and_a_deferred_column_when_it_is_asked_for(made: Scene) -> None:
    key = RequestDocument.objects.filter(request=made.request)[0].pk
    read = Joined(RequestDocument, "document", end=BY_ID, deferred={"document__preflight"})
    document = read.get(key).document
    assert document.pages == RequestDocument.objects.get(pk=key).document.pages
    assert document.get_deferred_fields() == {"preflight"}
    Document.objects.filter(pk=document.pk).update(preflight={"page_count": 1})
    assert document.preflight == {"page_count": 1}


def test_a_row_that_was_read_is_saved_as_itself(made: Scene) -> None:
    request = Joined(SignatureRequest, end=BY_ID).get(made.request.pk)
    request.ended_reason = "Done elsewhere."
    request.save(update_fields=["ended_reason"])
    assert SignatureRequest.objects.get(pk=request.pk).ended_reason == "Done elsewhere."


def test_there_is_none() -> None:
    read = Joined(SignatureRequest, "organization", end=BY_ID)
    assert read.first(0) is None
    with pytest.raises(SignatureRequest.DoesNotExist):
        read.get(0)
