"""The home page lists what needs a member's attention, and nothing of other organizations."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from paraph.evidence.models import SealingFailure
from paraph.flow.signing.decline_or_ask import decline
from paraph.signature_requests.models import Inquiry, SignatureRequest, Signer
from paraph.tenants.models import Organization, Role
from paraph.webhooks.models import Delivery
from tests.dashboard.conftest import LogIn, read, scene
from tests.factories import VISITOR, Scene

pytestmark = pytest.mark.django_db


def home(client: Client, organization: Organization) -> str:
    return read(client.get(f"/app/{organization.pk}/"))


def needy() -> Scene:
    """A request that expires tomorrow, with an inquiry, an invitation no mail server took and a failing webhook."""
    old = timezone.now() - timedelta(hours=1)
    made = scene(send_email=True, expires_at=timezone.now() + timedelta(days=1), created_at=old)
    Inquiry.objects.create(signer=made.signers[0], kind="question", text="Who pays?")
    assert made.request.application
    Delivery.objects.create(
        application=made.request.application,
        request=made.request,
        destination="application",
        url="https://example.com/hook",
        endpoint=f"{made.request.application_id} https://example.com:443",
        event_type="signer.signed",
        occurred_at=old,
        payload="{}",
        failures=2,
        due_at=timezone.now() + timedelta(hours=1),
    )
    return made


def test_each_kind_stands_on_the_home_page(log_in: LogIn) -> None:
    made = needy()
    _, client = log_in(Role.ADMIN, at=made.request.organization)
    page = home(client, made.request.organization)
    assert [kind in page for kind in _KINDS] == [True, True, True, False, True]
    assert "No mail server has taken the invitation of Ada Lovelace yet" in page
    Signer.objects.update(undelivered={"mail": "invitation-1"}, notified_at=timezone.now())
    SignatureRequest.objects.update(created_at=timezone.now())
    assert "Not delivered to Ada Lovelace" in home(client, made.request.organization), "at once"
    SignatureRequest.objects.update(status="completed", completed_at=timezone.now() - timedelta(hours=1))
    SealingFailure.objects.create(request=made.request, stage="seal", kind="key", cause="/secret/path")
    page = home(client, made.request.organization)
    assert [kind in page for kind in _KINDS] == [False, False, False, True, True]
    assert "The sealing key of the service does not answer." in page and "/secret/path" not in page


def test_a_request_stands_there_once_by_its_name(log_in: LogIn) -> None:
    made = needy()
    _, client = log_in(Role.ADMIN, at=made.request.organization)
    with CaptureQueriesContext(connection) as queries:
        page = home(client, made.request.organization)
    [row] = re.findall(rf'<li data-id="{made.request.pk}">.*?</li>', page, re.S)
    assert row.count("data-need=") == 3 and ">contract-1.pdf</a>" in row
    assert page.count(f'/requests/{made.request.pk}"') == 1 and f"Request {made.request.pk}" not in page
    assert len(queries) <= 40
    SignatureRequest.objects.update(created_at=timezone.now(), expires_at=timezone.now() + timedelta(days=9))
    Inquiry.objects.all().delete()
    page = home(client, made.request.organization)
    waiting = page[page.index('id="for-others"') :]
    assert f'<li data-id="{made.request.pk}">' in waiting and "Waiting for Ada Lovelace" in waiting


def test_what_was_declined_stands_there_for_two_weeks(log_in: LogIn) -> None:
    made = scene(decline_allowed=True)
    decline(made.signers[0], "The rent is wrong.", VISITOR)
    _, client = log_in(Role.MEMBER, at=made.request.organization)
    page = home(client, made.request.organization)
    assert 'data-need="declined"' in page and "Ada Lovelace" in page
    SignatureRequest.objects.update(ended_early_at=timezone.now() - timedelta(days=15))
    assert 'data-need="declined"' not in home(client, made.request.organization)


def test_webhooks_are_for_those_who_may_see_deliveries_and_all_for_the_organization(
    log_in: LogIn, organization: Organization
) -> None:
    made = needy()
    _, client = log_in(Role.MEMBER, at=made.request.organization)
    assert [kind in home(client, made.request.organization) for kind in _KINDS] == [True, True, True, False, False]
    _, stranger = log_in(Role.OWNER)
    assert 'data-need="' not in home(stranger, organization)


def test_an_empty_organization_has_two_doors(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.OWNER)
    page = home(client, organization)
    assert "Send a document" in page and "Use the API" in page and "First steps" in page
    assert ">Upload a PDF</button>" in page and ">Create an application</a>" in page
    assert '<meter min="0" max="100" value="0"' in page
    _, observer = log_in(Role.OBSERVER)
    page = home(observer, organization)
    assert "Members, admins and owners can send." in page and "<button class" not in page.split("<main")[1]


_KINDS = [f'data-need="{kind}"' for kind in ("inquiries", "mails", "expiring", "unsealed", "webhooks")]
