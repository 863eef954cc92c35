"""Rows written together are the rows that the models would have written; a row and those it refers to, read by a
statement of our own, are what Django would have read."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from paraph.database import rows
from paraph.database.rows import Joined
from paraph.documents.models import Document
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.tenants.models import BrandingProfile, Organization
from tests.factories import Scene, scene

pytestmark = pytest.mark.django_db


def profile(organization: Organization, name: str, pk: int | None = None) -> BrandingProfile:
    return BrandingProfile(
        pk=pk, organization=organization, name=name, background_color="#000", text_color="#111", accent_color="100%"
    )


def test_ids_are_taken_once() -> None:
    first = rows.reserve({Organization: 2, BrandingProfile: 1})
    second = rows.reserve({Organization: 1})
    taken = [*first[Organization], *second[Organization], Organization.objects.create(name="x", plan="free").pk]
    assert len(first[BrandingProfile]) == 1 and taken == sorted(set(taken))


def test_several_tables_in_one_statement() -> None:
    [pk], [keyed] = rows.reserve({Organization: 1, BrandingProfile: 1}).values()
    organization = Organization(pk=pk, name="Zoë's %s", plan="free")
    with CaptureQueriesContext(connection) as queries:
        rows.insert(
            [
                organization,
                profile(organization, "keyed", keyed),
                profile(organization, "a"),
                profile(organization, "b"),
            ]
        )
    assert len(queries) == 1
    assert Organization.objects.get(pk=pk).name == "Zoë's %s"
    made = BrandingProfile.objects.order_by("pk")
    assert [(row.name, row.accent_color) for row in made] == [("keyed", "100%"), ("a", "100%"), ("b", "100%")]
    assert made[0].pk == keyed


@pytest.mark.parametrize("statements", [3, pytest.param(1, marks=pytest.mark.django_db(transaction=True))])
def test_a_transaction_survives_rows_that_are_refused_and_without_one_they_are_one(statements: int) -> None:
    [taken] = rows.reserve({Organization: 1})[Organization]
    with CaptureQueriesContext(connection) as queries:
        rows.insert([])
        rows.insert_whole([Organization(pk=taken, name="x", plan="free")])
    assert len(queries) == statements  # within a transaction, a savepoint around it makes three
    with pytest.raises(IntegrityError):
        rows.insert_whole([Organization(name="y", plan="free"), Organization(pk=taken, name="z", plan="free")])
    assert [each.name for each in Organization.objects.all()] == ["x"]


def test_once() -> None:
    organization = Organization.objects.create(name="x", plan="free")
    assert rows.insert_once(profile(organization, "one", 7))
    assert not rows.insert_once(profile(organization, "other", 7))
    assert [row.name for row in BrandingProfile.objects.all()] == ["one"]


def test_more_rows_than_a_statement_takes_are_inserted_all_or_none() -> None:
    organization = Organization.objects.create(name="Acme")
    columns = len(BrandingProfile._meta.concrete_fields)
    count = 65_535 // columns + 2
    many = [
        profile(organization, f"{number}", pk)
        for number, pk in enumerate(rows.reserve({BrandingProfile: count})[BrandingProfile])
    ]
    with CaptureQueriesContext(connection) as queries:
        rows.insert(many)
    assert len([each for each in queries.captured_queries if each["sql"].startswith("INSERT")]) == 2
    assert BrandingProfile.objects.filter(organization=organization).count() == count
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.insert([*(profile(organization, f"again {each}") for each in range(count)), *many[:1]])
    assert BrandingProfile.objects.filter(organization=organization).count() == count


BY_ID = 'WHERE "self"."id" = %s'


@pytest.fixture
def made() -> Scene:
    return scene()


def columns(row: Model) -> dict[str, tuple[type, Any]]:
    return {name: (type(value), value) for name, value in vars(row).items() if name != "_state"}


def test_it_is_what_select_related_reads(made: Scene) -> None:
    along = ("request", "request__organization", "request__application", "request__branding_profile")
    key = made.signers[0].pk
    found, wanted = Joined(Signer, *along, end=BY_ID).get(key), Signer.objects.select_related(*along).get(pk=key)
    with CaptureQueriesContext(connection) as asked:
        pairs = [(found, wanted), (found.request, wanted.request)]
        pairs.append((found.request.organization, wanted.request.organization))
        assert found.request.branding_profile is None and found.request.application == wanted.request.application
    assert [columns(ours) for ours, _ in pairs] == [columns(theirs) for _, theirs in pairs]
    assert not asked.captured_queries


def test_json_is_read_and_a_deferred_column_when_it_is_asked_for(made: Scene) -> None:
    key = RequestDocument.objects.filter(request=made.request)[0].pk
    read = Joined(RequestDocument, "document", end=BY_ID, deferred={"document__preflight"})
    document = read.get(key).document
    assert document.pages == RequestDocument.objects.get(pk=key).document.pages
    assert document.get_deferred_fields() == {"preflight"}
    Document.objects.filter(pk=document.pk).update(preflight={"page_count": 1})
    assert document.preflight == {"page_count": 1}


def test_a_row_that_was_read_is_saved_as_itself(made: Scene) -> None:
    request = Joined(SignatureRequest, end=BY_ID).get(made.request.pk)
    request.ended_reason = "Done elsewhere."
    request.save(update_fields=["ended_reason"])
    assert SignatureRequest.objects.get(pk=request.pk).ended_reason == "Done elsewhere."


def test_there_is_none() -> None:
    read = Joined(SignatureRequest, "organization", end=BY_ID)
    assert read.first(0) is None
    with pytest.raises(SignatureRequest.DoesNotExist):
        read.get(0)
