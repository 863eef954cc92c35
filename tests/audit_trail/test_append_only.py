"""The journal only grows, and a change behind its back shows."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from paraph.audit_trail.append import broken_at, follow
from paraph.audit_trail.models import Entry
from paraph.database.rows import insert
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Application, Organization

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_() -> SignatureRequest:
    organization = Organization.objects.create(name="Acme", plan="free")
    application = Application.objects.create(
        organization=organization, environment="production", name="x", webhook_secret_encrypted=b""
    )
    return SignatureRequest.objects.create(
        organization=organization,
        environment="production",
        application=application,
        mode="parallel",
        validity_days=1,
        expires_at=clock.now() + timedelta(days=1),
    )


@pytest.mark.parametrize(
    "statement",
    ["UPDATE journal_entry SET ip = 'x'", "DELETE FROM journal_entry", "TRUNCATE journal_entry CASCADE"],
)
def test_the_database_refuses_changes(request_: SignatureRequest, statement: str) -> None:
    insert([follow(request_, "signature_request.created")])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else TRUNCATE is refused for another reason
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_the_chain_holds_and_a_change_breaks_it(request_: SignatureRequest) -> None:
    for number in range(3):
        insert([follow(request_, "signer.notified", metadata={"n": number, "name": "Zoë"})])
    entries = list(Entry.objects.filter(request=request_))
    assert [entry.position for entry in entries] == [1, 2, 3]
    assert broken_at(entries) is None
    entries[1].metadata["n"] = 7
    assert broken_at(entries) == 2
    assert broken_at([entries[0], entries[2]]) == 2
