"""A service that is too busy to read a PDF, or whose object store is away, says so: 503 ``unavailable``, to be tried
again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paraph.documents.models import Document
from paraph.pdf.untrusted.sandbox import SandboxLimits, configure
from paraph.signature_requests.models import SignatureRequest
from tests.api.v1.api_clients import ApiClient, error, payload
from tests.pdf.processes import stopped

BUSY = "The service is too busy for this at the moment. Try again in a few seconds."


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    configure(2)


def make_busy() -> None:
    """The next file to be read gets no time."""
    stopped(configure(1, SandboxLimits(wall_seconds=1.0)))


def test_an_upload_that_nobody_has_time_for(owner: ApiClient) -> None:
    make_busy()
    response = owner.upload()
    assert error(response, 503, "unavailable") == BUSY
    assert response["Retry-After"] == "5"
    assert not Document.objects.exists()
    assert owner.upload().status_code == 201


def test_a_creation_whose_tags_nobody_has_time_to_find_is_refused_in_the_language_of_the_call(owner: ApiClient) -> None:
    document = owner.document()
    owner.headers["Accept-Language"] = "nl"
    make_busy()
    response = owner.create(payload(document))
    assert error(response, 503, "unavailable").startswith("De dienst heeft het hiervoor")
    assert response["Retry-After"] == "5"
    assert not SignatureRequest.objects.exists()
    assert owner.create(payload(document)).status_code == 201


def test_an_upload_while_the_object_store_is_away(
    owner: ApiClient, settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "objects").write_text("")  # a file where the folder should be
    response = owner.upload()
    assert error(response, 503, "unavailable").startswith("The service is not available at the moment.")
    assert response["Retry-After"] == "5" and not Document.objects.exists()
    assert "the object store fails: " in caplog.text and "incident" not in caplog.text
    (tmp_path / "objects").unlink()
    assert owner.upload().status_code == 201
