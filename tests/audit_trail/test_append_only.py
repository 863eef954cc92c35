"""The journal only grows, and a change behind its back shows."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from paraph.audit_trail.journal import broken_at, commitment, committed, follow, personal_values, salts_for
from paraph.audit_trail.models import Entry, SharedFacts
from paraph.database.rows import insert
from paraph.signature_requests.models import SignatureRequest
from tests.factories import scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_() -> SignatureRequest:
    """With one entry."""
    return scene(environment="production").request


@pytest.mark.parametrize(
    "statement", ["UPDATE journal_entry SET ip = 'x'", "DELETE FROM journal_entry", "TRUNCATE journal_entry CASCADE"]
)
def test_the_database_refuses_changes(request_: SignatureRequest, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else TRUNCATE is refused for another reason
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_chain_holds_and_a_change_breaks_it(request_: SignatureRequest) -> None:
    for number in range(2):
        insert([follow(request_, "signer.notified", metadata={"n": number, "name": "Zoë"})])
    entries = list(Entry.objects.filter(request=request_))
    assert [entry.position for entry in entries] == [1, 2, 3]
    assert broken_at(entries) is None
    entries[1].metadata["n"] = 7
    assert broken_at(entries) == 2
    assert broken_at([entries[0], entries[2]]) == 2


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
    assert salts and len(salts) == 5 and len(set(salts.values())) == 5
    stated = committed(facts, salts)
    assert facts["metadata"] == {"fields": FIELDS, "recipients": ["a@example.com"]} and FIELDS[1]["value"] is True
    assert [field["value"] for field in stated["metadata"]["fields"]] == [
        commitment(salts["metadata/fields/0/value"], "DE89 3704"),
        commitment(salts["metadata/fields/1/value"], "true"),
        commitment(salts["metadata/fields/2/value"], "false"),
        None,
    ]
    assert [field["name"] for field in stated["metadata"]["fields"]] == ["IBAN", "pets", "cats", "remarks"]


@pytest.mark.parametrize("value", [None, ""])
def test_what_was_left_empty_needs_no_commitment(value: str | None) -> None:
    assert salts_for("", "", {"fields": [{**FIELDS[0], "value": value}]}) is None


def test_what_entries_have_alike_is_kept_once_and_hashed_with_each(request_: SignatureRequest) -> None:
    facts = {"consent_notice": "I agree.", "documents_count": 1, "locale": "en"}
    for _ in range(2):
        insert([follow(request_, "signer.signed", metadata=facts)])
    entries = list(Entry.objects.filter(request=request_))
    assert [entry.stated for entry in entries[1:]] == [facts, facts]
    assert "consent_notice" not in entries[1].metadata and SharedFacts.objects.count() == 1
    assert broken_at(entries) is None
    entries[2].shared = SharedFacts(content={"consent_notice": "I agree to more."})  # as somebody who owns the database
    assert broken_at(entries) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal_sharedfacts SET content = '{}'",
        "DELETE FROM journal_sharedfacts",
        "TRUNCATE journal_sharedfacts CASCADE",
    ],
)
def test_what_entries_have_alike_stays(request_: SignatureRequest, statement: str) -> None:
    insert([follow(request_, "signer.signed", metadata={"consent_notice": "I agree."})])
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement)
