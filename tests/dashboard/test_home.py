"""Where a member arrives."""

from collections.abc import Callable

from django.test import Client

from paraph.tenants.models import Organization
from tests.dashboard.conftest import MemberClient


def test_a_member_sees_their_organization(log_in: Callable[..., MemberClient], organization: Organization) -> None:
    _, client = log_in()
    assert client.get("/app/").headers["Location"] == f"/app/{organization.pk}/"
    assert organization.name in client.get(f"/app/{organization.pk}/").content.decode()


def test_a_stranger_is_sent_to_log_in(organization: Organization) -> None:
    address = f"/app/{organization.pk}/"
    assert Client().get(address).headers["Location"] == f"/account/login/?next={address}"


def test_another_organization_is_as_if_it_did_not_exist(
    log_in: Callable[..., MemberClient], organization: Organization
) -> None:
    _, client = log_in()
    assert client.get(f"/app/{organization.pk + 1}/").status_code == 404


def test_no_other_door_sets_a_cookie() -> None:
    for address in ("/docs", "/sign/unknown", "/api/v1/openapi.json"):
        assert not Client().get(address).cookies
