"""Rows written together are those that the models would have written."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from paraph.database import rows
from paraph.tenants.models import BrandingProfile, Organization

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


def test_a_transaction_survives_rows_that_are_refused() -> None:
    [taken] = rows.reserve({Organization: 1})[Organization]
    rows.insert_whole([Organization(pk=taken, name="x", plan="free")])
    with pytest.raises(IntegrityError):
        rows.insert_whole([Organization(name="y", plan="free"), Organization(pk=taken, name="z", plan="free")])
    assert [each.name for each in Organization.objects.all()] == ["x"]


def test_outside_of_a_transaction_rows_are_one_by_themselves(transactional_db: None) -> None:
    [taken] = rows.reserve({Organization: 1})[Organization]
    with CaptureQueriesContext(connection) as queries:
        rows.insert_whole([Organization(pk=taken, name="x", plan="free")])
    assert len(queries) == 1
    with pytest.raises(IntegrityError):
        rows.insert_whole([Organization(name="y", plan="free"), Organization(pk=taken, name="z", plan="free")])
    assert [each.name for each in Organization.objects.all()] == ["x"]


def test_nothing_to_insert() -> None:
    with CaptureQueriesContext(connection) as queries:
        rows.insert([])
    assert not queries.captured_queries


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
