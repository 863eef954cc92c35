"""What a template takes over from a request."""

import pytest

from paraph.request_templates.saving import of_request
from paraph.signature_requests.fields.input import FieldInput, check_field
from paraph.signature_requests.problems import Problems
from tests.factories import scene

pytestmark = pytest.mark.django_db

PLACE = {"type": "coordinates", "value": {"page_number": 1, "x": 1, "y": 1}}


def test_each_field_asks_the_same_again_and_no_value_goes_along() -> None:
    made = scene(
        fields=[
            {"type": "checkbox", "name": "box", "required": False, "read_only": True, "value": False},
            {"type": "text", "name": "flat", "read_only": True, "value": "4b"},
            {"type": "text", "name": "iban", "value": "DE02"},
            {"type": "number", "name": "rent", "minimum": "0", "maximum": "9.5"},
        ]
    )
    [document] = of_request(made.request).content["documents"]
    kept = document["signers"][0]["fields"]
    assert [(each.get("value"), each.get("read_only", False)) for each in kept] == [
        (None, True),
        (None, True),
        (None, False),
        (None, False),
    ]
    problems = Problems()
    for each in kept:
        check_field(FieldInput.model_validate(each | {"placement": PLACE}), each["name"], problems)
    assert [problem.path for problem in problems.named] == ["box.value", "flat.value"], "whoever sends it says these"
