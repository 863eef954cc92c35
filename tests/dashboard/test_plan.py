"""What the plan allows and what is used."""

from collections.abc import Callable

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.members.models import Role
from paraph.organizations.models import MonthlyCalls, Organization
from paraph.organizations.registration import create_application
from paraph.organizations.web_sends import use_web_send
from tests.dashboard.conftest import MemberClient
from tests.factories import scene


@pytest.mark.parametrize("role", [Role.OWNER, Role.OBSERVER])
def test_everybody_reads_quota_calls_and_requests_of_the_month(
    log_in: Callable[..., MemberClient], organization: Organization, role: str
) -> None:
    made = create_application(organization.pk, "production", "Backend")
    calls = Client(headers={"X-Api-Key": made.api_key})
    for _ in range(3):
        calls.get("/api/v1/documents")
    for _ in range(2):
        use_web_send(organization.pk, "pro")
    member, client = log_in(role)
    page = client.get(f"/app/{organization.pk}/plan").content.decode()
    assert '<meter aria-labelledby="quota" min="0" max="100" value="2"' in page and "2 of 100 used" in page
    [row] = [part for part in page.split("<tr") if f'data-id="{clock.now():%Y-%m}"' in part]
    assert 'data-label="Production calls">3<' in row and 'data-label="Sent from here">2<' in row
    assert member.organization_id == organization.pk


def test_a_plan_without_a_limit_has_no_bar(log_in: Callable[..., MemberClient], organization: Organization) -> None:
    Organization.objects.update(plan="enterprise")
    _, client = log_in()
    page = client.get(f"/app/{organization.pk}/plan").content.decode()
    assert "<meter" not in page and "no limit" in page


def test_requests_of_another_organization_are_not_counted(log_in: Callable[..., MemberClient]) -> None:
    stage = scene()
    MonthlyCalls.objects.create(
        organization=stage.request.organization, environment="production", month=clock.now().replace(day=1), calls=77
    )
    member, client = log_in()
    assert ">77<" not in client.get(f"/app/{member.organization_id}/plan").content.decode()
