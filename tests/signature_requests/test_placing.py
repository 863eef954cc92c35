"""Values of the sender that have no room in their fields are refused."""

from typing import Any

import pytest

from paraph.signature_requests.models import Field, SignatureRequest
from tests.api.v1.api_clients import ApiClient, api_client, error, payload

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> ApiClient:
    return api_client()


def created(owner: ApiClient, **field: Any) -> Any:
    content = payload(owner.document())
    place = {"type": "coordinates", "value": {"page_number": 1, "x": 50, "y": 600, **field.pop("size", {})}}
    content["documents"][0]["signers"][0]["fields"] = [{"name": "remarks", "type": "text", "placement": place, **field}]
    return owner.create(content)


@pytest.mark.parametrize(
    ("field", "size"),
    [
        ({"value": "W" * 60}, "160 by 18"),
        ({"value": "W" * 9, "font_size": 6, "size": {"width": 40, "height": 8}}, "40 by 8"),
        ({"type": "multiline", "value": "line\n" * 12 + "end"}, "160 by 18"),
        ({"type": "date", "value": "2026-11-21", "size": {"width": 20}}, "20 by 18"),
        ({"type": "choice", "options": ["x", "W" * 60], "value": "W" * 60}, "160 by 18"),
    ],
)
def test_a_value_without_room_is_refused_with_its_path(owner: ApiClient, field: dict[str, Any], size: str) -> None:
    message = error(created(owner, **field), 422, "validation_error")
    sentence = f"it does not fit into {size} points, even in letters of 6 points."
    assert f"documents[0].signers[0].fields[0].value: {sentence}" in message
    assert not SignatureRequest.objects.exists()


@pytest.mark.parametrize("value", ["W" * 15, "narrow letters, and many of them fit", "محمد عبد الرحمن"])
def test_a_value_that_fits_in_smaller_letters_is_taken(owner: ApiClient, value: str) -> None:
    assert created(owner, value=value).status_code == 201
    assert Field.objects.get().value == value


def test_a_value_that_is_wrong_anyway_is_named_once(owner: ApiClient) -> None:
    message = error(created(owner, value="W" * 300), 422, "validation_error")
    assert message.count("fields[0].value") == 1 and "characters" in message
