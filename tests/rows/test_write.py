"""Rows written together are those that the models would have written."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.organizations.models import BrandingProfile, Organization
from paraph.rows import write

pytestmark = pytest.mark.django_db


def profile(organization: Organization, name: str, pk: int | None = None) -> BrandingProfile:
    return BrandingProfile(
        pk=pk, organization=organization, name=name, background_color="#000", text_color="#111", accent_color="100%"
    )


def test_ids_are_taken_once() -> None:
    first = write.reserve({Organization: 2, BrandingProfile: 1})
    second = write.reserve({Organization: 1})
    taken = [*first[Organization], *second[Organization], Organization.objects.create(name="x", plan="free").pk]
    assert len(first[BrandingProfile]) == 1 and taken == sorted(set(taken))


def test_several_tables_in_one_statement() -> None:
    [pk], [keyed] = write.reserve({Organization: 1, BrandingProfile: 1}).values()
    organization = Organization(pk=pk, name="Zoë's %s", plan="free")
    with CaptureQueriesContext(connection) as queries:
        write.insert(
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


def test_a_new_row_gets_an_id() -> None:
    organization = Organization(name="Zoë's %s", plan="free")
    with CaptureQueriesContext(connection) as queries:
        write.insert_new(organization)
    assert len(queries) == 1
    assert Organization.objects.get(pk=organization.pk).name == "Zoë's %s"
    [after] = write.reserve({Organization: 1})[Organization]
    assert after == organization.pk + 1


def test_nothing_to_insert() -> None:
    with CaptureQueriesContext(connection) as queries:
        write.insert([])
    assert not queries.captured_queries


def test_once() -> None:
    organization = Organization.objects.create(name="x", plan="free")
    assert write.insert_once(profile(organization, "one", 7))
    assert not write.insert_once(profile(organization, "other", 7))
    assert [row.name for row in BrandingProfile.objects.all()] == ["one"]


def test_an_update_writes_the_named_fields() -> None:
    first, second = (Organization.objects.create(name=name, plan="free") for name in "ab")
    first.name, first.plan = "Zoë's %s", "pro"
    write.update(first, "name")
    assert [(row.name, row.plan) for row in Organization.objects.order_by("pk")] == [
        ("Zoë's %s", "free"),
        ("b", "free"),
    ]
    write.update(Organization(pk=second.pk + 1, name="nobody"), "name")
    assert Organization.objects.count() == 2
