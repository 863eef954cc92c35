"""GET /branding_profiles (rule 4.9)."""

import pytest

from paraph.tenants.models import BrandingProfile
from tests.api.v1.api_clients import ApiClient, api_client, error


@pytest.fixture
def names(owner: ApiClient) -> list[str]:
    assert owner.organization
    colors = {"background_color": "#ffffff", "text_color": "#000000", "accent_color": "#1a2b3c"}
    for name in ("Winter", "autumn", "Spring"):
        BrandingProfile.objects.create(organization=owner.organization, name=name, **colors)
    return ["autumn", "Spring", "Winter"]


def test_entries(owner: ApiClient, names: list[str]) -> None:
    row = BrandingProfile.objects.get(name="autumn")
    content = owner.get("/branding_profiles").json()
    assert content["pagination"] == {"page": 1, "limit": 20, "count": 3, "pages": 1}
    assert content["data"][0] == {
        "id": row.pk,
        "name": "autumn",
        "background_color": "#ffffff",
        "text_color": "#000000",
        "accent_color": "#1a2b3c",
    }


def test_sorted_by_name_and_paged(owner: ApiClient, names: list[str]) -> None:
    pages = [owner.get("/branding_profiles", limit="2", page=page).json()["data"] for page in ("1", "2")]
    assert [entry["name"] for page in pages for entry in page] == names


def test_the_same_in_both_environments(owner: ApiClient, names: list[str]) -> None:
    production = api_client("pro", "production", owner.organization)
    assert production.get("/branding_profiles").json() == owner.get("/branding_profiles").json()


def test_not_those_of_others(owner: ApiClient, names: list[str]) -> None:
    assert api_client().get("/branding_profiles").json()["data"] == []


def test_filters_are_ignored(owner: ApiClient, names: list[str]) -> None:
    content = owner.get("/branding_profiles", order="desc", status="x", created_after="never").json()
    assert [entry["name"] for entry in content["data"]] == names


def test_the_api_only_reads_them(owner: ApiClient, names: list[str]) -> None:
    row = BrandingProfile.objects.get(name="autumn")
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        error(owner.send(method, "/branding_profiles", b"{}"), 405, "method_not_allowed")
        error(owner.send(method, f"/branding_profiles/{row.pk}", b"{}"), 404, "not_found")
    assert list(BrandingProfile.objects.order_by("pk").values_list("name", flat=True)) == ["Winter", "autumn", "Spring"]
