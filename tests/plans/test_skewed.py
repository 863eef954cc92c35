"""Where one organization has nearly everything, pages, lists, polls and commands read only what they show, for the
large organization and for a small one."""

from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from procrastinate.contrib.django import app

from paraph.evidence.failures import sealing_failures
from paraph.flow.personal_data.erase import erase_address, erase_signer, show_person
from paraph.kernel import clock
from paraph.operations.check.service_checks import CHECKS
from paraph.operations.request_state import request_evidence, request_state
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import Member, Organization, Role
from paraph.tenants.usage import usage_of_all
from paraph.webhooks.all_deliveries import latest_deliveries
from tests.api.v1.api_clients import ApiClient
from tests.dashboard.conftest import LogIn, log_in, organization, proved
from tests.dashboard.matrix import PAGES
from tests.dashboard.one_of_everything import Everything, one_of_everything
from tests.dashboard.test_matrix import answered
from tests.plans.skewed import Asked, fill
from tests.plans.test_frequent_statements import CHECKED
from tests.tenancy import create_application

pytestmark = pytest.mark.django_db

__all__ = ["log_in", "organization"]  # fixtures
_MOST = 6_000  # rows: a job looks at 5,000 at once
_LISTS = ("requests", "documents", "activity")  # whose addresses name no row
_PAGES_OF_LISTS: list[dict[str, Any]] = [
    {},
    {"page": 20},
    {"order": "desc", "page": 20},
    {"created_after": "2026-02-01T06:00:00Z", "created_before": "2100-01-01"},
]


def test_lists_and_what_is_kept_of_a_person(log_in: LogIn) -> None:
    """A quick part of the next test, with few rows."""
    everything, owner, small, key = skewed(log_in, 3_000, 20)
    person = somebody(everything)
    asked = Asked()
    with asked.watched():
        for number in (everything.organization.pk, small):
            read(owner, f"/app/{number}/documents")
        of_application(key)
        keep_in_mind(person)
    found = list(asked.read(1_000))
    assert not found, "\n\n".join(found)


@pytest.mark.thorough
def test_everything_that_is_asked(log_in: LogIn) -> None:
    everything, owner, small, key = skewed(log_in, 200_000, 1_000)
    addresses, elsewhere = everything.addresses(), everything.addresses(small)
    requests, newest = addresses["requests"], SignatureRequest.objects.latest("pk").pk - 20_000
    searches = ["q=ada", "q=lovelace7", "q=ada+lovelace7", "q=lovel", f"q=ada{newest}@example.com", f"q={newest}"]
    searches += ["q=nobody", "status=pending", "order=asc", f"following={newest}", f"previous={newest}"]
    searches += ["q=ada&status=expired", "status=expired&created_after=2026-01-01"]
    person = somebody(everything)
    asked = Asked()
    with asked.watched():
        for address in (
            *(addresses[name] for name in sorted(PAGES)),
            *(elsewhere[name] for name in _LISTS if name in elsewhere),
            *(f"{requests}?{search}" for search in searches),
        ):
            read(owner, address)
        of_application(key)
        by_the_clock()
        keep_in_mind(person)
        by_hand(newest)
    found = list(asked.read(_MOST))
    assert len(asked.statements) > 200
    assert not found, "\n\n".join(found)


def skewed(log_in: LogIn, count: int, organizations: int) -> tuple[Everything, Client, int, str]:
    """One of everything in an organization with ``count`` requests; its owner's browser; the id of another with ten
    requests, of which they are an owner too; and an API key of the large organization."""
    everything = one_of_everything(log_in)
    owner, client = log_in(Role.OWNER, at=everything.organization)
    proved(client)
    made = create_application(everything.organization.pk, "production", "shop")
    small = fill(made.application, count, organizations)
    Member.objects.create(organization=Organization.objects.get(pk=small), user=owner.user, role=Role.OWNER)
    return everything, client, small, made.api_key


def read(client: Client, address: str) -> None:
    with answered(client, "get", address) as response:
        assert response.status_code in (200, 303), address


def of_application(key: str) -> None:
    """Send the calls of the API."""
    backend = ApiClient(key)
    backend.checked = False  # the copies have neither placements nor a file
    number = SignatureRequest.objects.earliest("pk").pk
    for path in (f"/signature_requests/{number}", f"/signature_requests/{number}/audit_logs", "/events"):
        assert backend.get(path).status_code == 200
    for path, status in (("/signature_requests", "pending"), ("/documents", "ready")):
        of_status = [{"status": status}, {"status": status, "order": "desc"}, {"external_id": "e7"}]
        for query in [*_PAGES_OF_LISTS, *of_status, *(each | {"status": status} for each in _PAGES_OF_LISTS)]:
            assert backend.get(path, **query).status_code in (200, 422)


def by_the_clock() -> None:
    for task in app.periodic_registry.periodic_tasks.values():
        task.task.func(timestamp=0)
    for check in CHECKS:
        if check.name in CHECKED | {"backup"}:
            check.outcomes()


def somebody(everything: Everything) -> Signer:
    signed = Signer.objects.filter(request__organization=everything.organization, signed_at__isnull=False)
    return signed.latest("pk")


def keep_in_mind(person: Signer) -> None:
    """Show and erase a person who signed, and look for a number that nobody has."""
    assert show_person(person.email)
    assert show_person("+33612345678") == []
    with transaction.atomic():
        erase_signer(OPERATOR, person.pk)
        erase_address(OPERATOR, person.email)
        transaction.set_rollback(True)


def by_hand(request_id: int) -> None:
    """Ask what operators' commands ask."""
    request_state(request_id)
    request_evidence(request_id)
    for some in (True, False):
        sealing_failures(given_up_only=some, limit=100)
        latest_deliveries(failed_only=some, limit=100)
    usage_of_all(clock.now().date().replace(day=1))
