"""The journal only grows, a change made directly in the database shows, and a value goes only with its salt."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from paraph.audit_trail.journal import (
    PLAIN,
    EntryAbout,
    broken_at,
    commitment,
    committed,
    erase_values,
    follow,
    personal_values,
    salts_for,
)
from paraph.audit_trail.models import Entry, SharedFacts
from paraph.database.rows import insert
from tests.factories import VISITOR, Scene, finish, scene

pytestmark = pytest.mark.django_db

FIELDS: list[dict[str, Any]] = [
    {"document_id": 7, "name": "IBAN", "type": "text", "value": "DE89 3704"},
    {"document_id": 7, "name": "pets", "type": "checkbox", "value": True},
    {"document_id": 7, "name": "cats", "type": "checkbox", "value": False},
    {"document_id": 8, "name": "remarks", "type": "multiline", "value": None},
]


@pytest.fixture
def made(db: None) -> Scene:
    """A production request, as those of the sandbox may be deleted."""
    return scene(environment="production")


def refused(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else TRUNCATE is refused for another reason
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal_entry SET ip = 'x'",
        "DELETE FROM journal_entry",
        "TRUNCATE journal_entry CASCADE",
        "UPDATE journal_sharedfacts SET content = '{}'",
        "DELETE FROM journal_sharedfacts",
        "TRUNCATE journal_sharedfacts CASCADE",
        f"UPDATE journal_entry SET salts = '{{}}' WHERE format = {PLAIN}",
        *(
            f"UPDATE journal_entry SET {change} WHERE event_type = 'signer.otp_sent'"
            for change in (
                "ip = ''",
                "ip = '', salts = salts - 'ip'",
                "ip = '', salts = jsonb_set(salts, '{ip}', '\"00\"')",
                "event_type = 'signer.signed', salts = '{}'",
                "format = 1, salts = '{}'",
                "hash = ''",
                "metadata = metadata || '{\"resend\": true}'",
                "metadata = jsonb_set(metadata, '{fields,0,value}', '\"DE00\"')",
                "salts = NULL",
            )
        ),
    ],
)
def test_the_database_refuses_changes_and_lets_a_value_go_with_its_salt_alone(statement: str, made: Scene) -> None:
    facts = {"recipient": "a@example.com", "resend": False, "fields": FIELDS}
    insert([follow(made.request, "signer.otp_sent", origin=VISITOR, metadata=facts)])
    insert([follow(made.request, "signer.signed", metadata={"consent_notice": "I agree."})])
    refused(statement)
    assert broken_at(made.entries()) is None


def test_what_an_erased_value_left_stays(made: Scene) -> None:
    """A commitment is not accepted as the salt of another commitment."""
    insert([follow(made.request, "signer.otp_sent", origin=VISITOR, metadata={})])
    entry = made.entries()[-1]
    erase_values([EntryAbout(entry, {"ip": VISITOR.ip})], {})
    left = made.entries()[-1].salts["ip"]
    instead = "UPDATE journal_entry SET salts = jsonb_set(salts, '{ip}', to_jsonb(%s::text)) WHERE id = %s"
    refused(instead, commitment(left, ""), entry.pk)
    assert broken_at(made.entries()) is None


def test_the_chain_holds_and_a_change_breaks_it(made: Scene) -> None:
    for number in range(2):
        metadata = {"n": number, "name": "Zoë", "recipient": "a@example.com"}
        insert([follow(made.request, "signer.notified", origin=VISITOR, metadata=metadata)])
    entries = made.entries()
    assert [entry.position for entry in entries] == [1, 2, 3]
    assert broken_at(entries) is None and broken_at([entries[0], entries[2]]) == 2
    for changed in (
        {"metadata": metadata | {"n": 7}},
        {"metadata": metadata | {"n": 0, "recipient": "b@example.com"}},
        {"ip": "198.51.100.1"},
        {"user_agent": "another"},
    ):
        entries = made.entries()
        vars(entries[1]).update(changed)
        assert broken_at(entries) == 2, changed


def test_an_entry_without_personal_values_has_no_salts(made: Scene) -> None:
    entries = finish(made).entries()
    plain = {entry.event_type: entry.salts for entry in entries if entry.format == PLAIN}
    assert plain.keys() >= {"request.completed", "signature_request.pades_signed"} and set(plain.values()) == {None}
    completed = next(entry for entry in entries if entry.event_type == "request.completed")
    completed.salts, completed.ip = {}, "203.0.113.9"  # as the database's owner could
    assert broken_at(entries) == completed.position


def test_salts_differ_so_that_nobody_finds_an_erased_value_by_trying(made: Scene) -> None:
    for _ in range(2):
        insert([follow(made.request, "signer.otp_sent", origin=VISITOR, metadata={})])
    [_, first, second] = made.entries()
    assert first.salts["ip"] != second.salts["ip"]
    assert len(bytes.fromhex(first.salts["ip"])) == 16


def test_each_value_of_a_field_is_personal_by_itself_and_none_that_was_left_empty() -> None:
    assert personal_values("", "", {"fields": FIELDS, "locale": "en"}) == {
        "metadata/fields/0/value": "DE89 3704",
        "metadata/fields/1/value": "true",
        "metadata/fields/2/value": "false",
    }
    for value in (None, ""):
        assert salts_for("", "", {"fields": [{**FIELDS[0], "value": value}]}) is None


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


def test_what_entries_have_alike_is_kept_once_and_hashed_with_each(made: Scene) -> None:
    facts = {"consent_notice": "I agree.", "documents_count": 1, "locale": "en"}
    for _ in range(2):
        insert([follow(made.request, "signer.signed", metadata=facts)])
    entries = list(Entry.objects.filter(request=made.request))
    assert [entry.stated for entry in entries[1:]] == [facts, facts]
    assert "consent_notice" not in entries[1].metadata and SharedFacts.objects.count() == 1
    assert broken_at(entries) is None
    entries[2].shared = SharedFacts(content={"consent_notice": "I agree to more."})  # as the database's owner could
    assert broken_at(entries) == 3
