"""GET /documents/{id} (rule 4.4). Foreign ids: test_tenancy."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.kernel import clock
from tests.api.v1.api_clients import CONTRACT, ApiClient, error, stored_document
from tests.production import Client


def test_it_is_the_answer_of_the_upload_and_a_download_url(owner: ApiClient) -> None:
    created = owner.upload().json()
    read = owner.get(f"/documents/{created['id']}").json()
    address = read.pop("download_url")
    assert read == created
    response = Client().get(address.removeprefix("http://127.0.0.1:8000"))
    assert b"".join(response) == CONTRACT
    assert response["Content-Type"] == "application/pdf"
    assert "contract.pdf" in response["Content-Disposition"]


@pytest.mark.parametrize(("seconds", "status"), [(0, 200), (899, 200), (901, 403)])
def test_the_download_url_works_for_fifteen_minutes(
    owner: ApiClient, monkeypatch: pytest.MonkeyPatch, seconds: int, status: int
) -> None:
    address = owner.get(f"/documents/{owner.document()}").json()["download_url"]
    later = clock.now() + timedelta(seconds=seconds)
    monkeypatch.setattr(clock, "now", lambda: later)
    response = Client().get(address.removeprefix("http://127.0.0.1:8000"))
    response.close()
    assert response.status_code == status


def test_a_pending_document_has_nothing_to_download(owner: ApiClient) -> None:
    row = stored_document(owner, status="pending")
    content = owner.get(f"/documents/{row.pk}").json()
    assert content["status"] == "pending"
    assert content["download_url"] is None
    assert content["preflight"] is None  # a row from before reports were kept


def test_unknown_is_404(owner: ApiClient) -> None:
    assert error(owner.get("/documents/1"), 404, "not_found") == "There is no such resource."


def test_it_takes_two_queries(owner: ApiClient) -> None:
    row = stored_document(owner)
    with CaptureQueriesContext(connection) as queries:
        owner.get(f"/documents/{row.pk}")
    assert len(queries) == 2  # the caller, the document
