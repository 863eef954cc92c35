"""One row as Django itself would have read it."""

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from paraph.database.compiled_query import CompiledQuery
from paraph.evidence.models import SealedDocument
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from tests.factories import scene, sign

pytestmark = pytest.mark.django_db


def test_the_row_is_the_one_that_get_returns() -> None:
    made = scene(signers=2)
    signer = sign(made, 1)
    compiled = CompiledQuery(
        lambda: Signer.objects.select_related("request__organization", "request__branding_profile")
    )
    for known in (made.signers[0], signer):
        with CaptureQueriesContext(connection) as queries:
            read = compiled.get(known.pk)
            assert read.request.organization.name == "Acme Ltd" and read.request.branding_profile is None
        assert len(queries) == 1
        expected = Signer.objects.select_related("request").get(pk=known.pk)
        assert vars(read) | {"_state": None} == vars(expected) | {"_state": None}
        assert read.signature_encrypted == expected.signature_encrypted
        assert (read.signature_encrypted is None) == (known is not signer)
        assert vars(read.request) | {"_state": None} == vars(expected.request) | {"_state": None}
        assert not read._state.adding and read._state.db == "default"


def test_what_points_back_is_joined_too() -> None:
    made = scene()
    row = made.request_documents[0]
    compiled = CompiledQuery(lambda: RequestDocument.objects.select_related("sealed"))
    assert not hasattr(compiled.get(row.pk), "sealed")
    SealedDocument.objects.create(request_document=row, object_key="k", sha256=b"1", file_size=1, seal={"a": [1]})
    with CaptureQueriesContext(connection) as queries:
        assert compiled.get(row.pk).sealed.seal == {"a": [1]}
    assert len(queries) == 1


def test_all_in_their_order() -> None:
    made = scene(signers=3)
    compiled = CompiledQuery(lambda: Signer.objects.order_by("-order"), "request")
    assert [signer.pk for signer in compiled.all(made.request.pk)] == [signer.pk for signer in reversed(made.signers)]
    assert compiled.all(made.request.pk + 1) == []


def test_what_has_further_values_is_refused() -> None:
    with pytest.raises(ValueError, match="not of a form"):
        CompiledQuery(lambda: Signer.objects.filter(status="signed")).first(1)


def test_by_another_field_and_what_is_not_there() -> None:
    made = scene()
    compiled = CompiledQuery(SealedDocument.objects.all, "request_document")
    assert compiled.first(made.request_documents[0].pk) is None
    with pytest.raises(SealedDocument.DoesNotExist):
        compiled.get(made.request_documents[0].pk)


@pytest.mark.django_db(transaction=True)
def test_a_lock_is_held_until_the_transaction_ends() -> None:
    made = scene()
    compiled = CompiledQuery(lambda: SignatureRequest.objects.select_for_update(no_key=True))
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        compiled.get(made.request.pk)
    assert "FOR NO KEY UPDATE" in queries[0]["sql"]
    with pytest.raises(TransactionManagementError):
        compiled.get(made.request.pk)
