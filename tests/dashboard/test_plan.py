"""What the plan allows and what is used."""

import csv
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.kernel.rates import PerHourAndDay
from paraph.otp.codes import MAX_SENDS
from paraph.otp.guesses import ATTEMPTS, LOCKED_AFTER
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.limits import use_web_send
from paraph.tenants.models import MonthlyCalls, Organization, Role
from tests.dashboard.conftest import LogIn, read, scene
from tests.factories import Scene
from tests.tenancy import create_application


def test_everybody_reads_quota_calls_and_requests_of_the_month(log_in: LogIn, organization: Organization) -> None:
    """Members see their own organization alone; observers do not see the number of calls."""
    made = create_application(organization.pk, "production", "Backend")
    calls = Client(headers={"X-Api-Key": made.api_key})
    for _ in range(3):
        calls.get("/api/v1/documents")
    for _ in range(2):
        use_web_send(organization.pk, "pro")
    month = {"environment": "production", "month": clock.now().replace(day=1)}
    MonthlyCalls.objects.create(organization=scene().request.organization, calls=77, **month)
    for role in (Role.OWNER, Role.OBSERVER):
        page = read(log_in(role)[1].get(f"/app/{organization.pk}/plan"))
        assert '<meter aria-labelledby="quota" min="0" max="100" value="2"' in page and "2 of 100 used" in page
        [row] = [part for part in page.split("<tr") if f'data-id="{clock.now():%Y-%m}"' in part]
        assert ('data-label="Production calls">3<' in row) is (role == Role.OWNER)
        assert 'data-label="Sent from here">2<' in row and ">77<" not in page


@pytest.mark.parametrize("plan", ["free", "pro", "enterprise"])
def test_every_ceiling_of_messages_is_named(
    log_in: LogIn, organization: Organization, settings: Any, plan: str
) -> None:
    told = {
        "messages_free_sandbox": PerHourAndDay(61, 201),
        "messages_sandbox": PerHourAndDay(2001, 0),
        "messages_pro": PerHourAndDay(5001, 30001),
        "messages_enterprise": PerHourAndDay(0, 0),
        "messages_per_destination": PerHourAndDay(11, 31),
        "messages_per_destination_in_all": PerHourAndDay(0, 151),
        "sms_per_organization_and_day": 1001,
        "sms_per_country_and_day": 0,
    }
    settings.PARAPH = settings.PARAPH.model_copy(update=told)
    Organization.objects.update(plan=plan)
    _, client = log_in()
    page = read(client.get(f"/app/{organization.pk}/plan"))
    assert ("<meter" not in page and "no limit" in page) is (plan == "enterprise")
    rows = dict(re.findall("<dt>([^<]+)</dt><dd>([^<]+)</dd>", page.partition("data-message-limits")[2]))
    assert page.count("To one address or number from you") == 1
    assert rows == {
        "All messages, Sandbox": "61 per hour, 201 per day" if plan == "free" else "2,001 per hour",
        "All messages, Production": "No limit" if plan == "enterprise" else "5,001 per hour, 30,001 per day",
        "To one address or number from you, production": "11 per hour, 31 per day",
        "To one address or number from all organizations, production": "151 per day",
        "To one address or number from all organizations, sandbox": "11 per hour, 31 per day",
        "SMS from you, in each environment": "1,001 per day",
        "SMS to one country from all organizations, in each environment": "No limit",
        "Codes to one signer": "5 in 10 minutes",
        "Wrong codes of one signer": "5 for each code, 20 per day",
    }
    assert (MAX_SENDS, ATTEMPTS, LOCKED_AFTER) == (5, 5, 20)


def test_billed_requests_are_listed_by_day(log_in: LogIn) -> None:
    """Billed are requests that the API created in production, not those of the dashboard, the sandbox or other
    organizations, in the months that the page shows. The days of a month add up to its number there."""
    made, today = scene(environment="production"), clock.now().date()
    Organization.objects.update(created_at=clock.now() - timedelta(days=400))
    for fields in ({"environment": "production"}, {"environment": "production", "application": None}, {}):
        beside(made, **fields)
    beside(made, environment="production", created_at=clock.now() - timedelta(days=1))
    beside(made, environment="production", created_at=clock.now() - timedelta(days=300))
    scene(environment="production")
    _, client = log_in(Role.OBSERVER, at=made.request.organization)
    plan = f"/app/{made.request.organization_id}/plan"
    assert f'href="{plan}/billed.csv"' in read(client.get(plan))
    answer = client.get(f"{plan}/billed.csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert list(csv.reader(answer.content.decode().splitlines())) == [
        ["day", "billed_requests", "web_sends"],
        [f"{today - timedelta(days=1)}", "1", "0"],
        [f"{today}", "2", "1"],
    ]


def beside(made: Scene, **fields: Any) -> None:
    """Create another request of the same organization."""
    shared = {"organization": made.request.organization, "application": made.request.application}
    usual = {"environment": "sandbox", "mode": "parallel", "validity_days": 7, "expires_at": clock.now()}
    SignatureRequest.objects.create(**shared | usual | fields)
