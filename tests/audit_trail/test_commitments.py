"""What of an entry is a personal value, and that a commitment stands in its place."""

from typing import Any

import pytest

from paraph.audit_trail.commitments import commitment, committed, personal_values, salts_for

FIELDS: list[dict[str, Any]] = [
    {"document_id": 7, "name": "IBAN", "type": "text", "value": "DE89 3704"},
    {"document_id": 7, "name": "pets", "type": "checkbox", "value": True},
    {"document_id": 7, "name": "cats", "type": "checkbox", "value": False},
    {"document_id": 8, "name": "remarks", "type": "multiline", "value": None},
]


def test_each_value_of_a_field_is_personal_by_itself() -> None:
    assert personal_values("", "", {"fields": FIELDS, "locale": "en"}) == {
        "metadata/fields/0/value": "DE89 3704",
        "metadata/fields/1/value": "true",
        "metadata/fields/2/value": "false",
    }


def test_commitments_stand_in_the_place_of_values_and_the_facts_stay_as_they_were() -> None:
    facts = {"ip": "203.0.113.9", "metadata": {"fields": FIELDS, "recipients": ["a@example.com"]}}
    salts = salts_for("203.0.113.9", "", facts["metadata"])  # type: ignore[arg-type]
    assert salts and len(salts) == 5 and len({each["salt"] for each in salts.values()}) == 5
    stated = committed(facts, salts)
    assert facts["metadata"] == {"fields": FIELDS, "recipients": ["a@example.com"]} and FIELDS[1]["value"] is True
    assert [field["value"] for field in stated["metadata"]["fields"]] == [
        commitment(salts["metadata/fields/0/value"]["salt"], "DE89 3704"),
        commitment(salts["metadata/fields/1/value"]["salt"], "true"),
        commitment(salts["metadata/fields/2/value"]["salt"], "false"),
        None,
    ]
    assert [field["name"] for field in stated["metadata"]["fields"]] == ["IBAN", "pets", "cats", "remarks"]


@pytest.mark.parametrize("value", [None, ""])
def test_what_was_left_empty_needs_no_commitment(value: str | None) -> None:
    assert salts_for("", "", {"fields": [{**FIELDS[0], "value": value}]}) is None
