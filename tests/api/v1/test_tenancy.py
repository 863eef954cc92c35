"""Nobody sees what belongs to another organization or environment (specification 5.1): 404, never 403."""

import pytest

from tests.api.v1.cast import Someone, error, payload, strangers
from tests.api.v1.test_error_shape import paths

WITH_ID = sorted({path for method, path in paths() if method == "GET" and "/1" in path})
LISTS = sorted({path for method, path in paths() if method == "GET" and "/1" not in path and path != "/health"})


@pytest.mark.parametrize("stranger", ["other organization", "other environment"])
@pytest.mark.parametrize("path", WITH_ID)
def test_foreign_ids_are_404(owner: Someone, path: str, stranger: str) -> None:
    document = owner.document()
    request = owner.create(payload(document)).json()["id"]
    here = path.replace("/1", f"/{document if 'documents' in path else request}")
    assert owner.get(here).status_code == 200
    error(strangers(owner)[stranger].get(here), 404, "not_found")


@pytest.mark.parametrize("stranger", ["other organization", "other environment"])
@pytest.mark.parametrize("path", LISTS)
def test_lists_hold_nothing_foreign(owner: Someone, path: str, stranger: str) -> None:
    owner.create(payload(owner.document()))
    content = strangers(owner)[stranger].get(path).json()
    assert content["data"] == []
    assert content["pagination"]["count"] == 0


@pytest.mark.parametrize("stranger", ["other organization", "other environment"])
def test_nobody_builds_on_a_foreign_document(owner: Someone, stranger: str) -> None:
    document = owner.document()
    response = strangers(owner)[stranger].create(payload(document))
    message = error(response, 422, "validation_error")
    assert f"documents[0].id: there is no document {document} in this environment." in message
