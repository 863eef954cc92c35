"""What ``paraph check`` says of files that should be gone."""

from datetime import timedelta

import pytest

from paraph.documents.models import ObjectToDelete
from paraph.flow.housekeeping.delete_files import overdue
from paraph.kernel import clock
from paraph.operations.check.backlog import retention
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Retention
from tests.factories import scene
from tests.tenancy import set_retention

pytestmark = pytest.mark.django_db


def status() -> str:
    [outcome] = retention()
    return outcome.status


@pytest.mark.parametrize(("hours", "expected"), [(23, "ok"), (25, "warning")])
def test_files_beyond_their_retention(hours: int, expected: str) -> None:
    made = scene()
    set_retention(made.request.organization_id, "sandbox", 30)
    ended = clock.now() - timedelta(days=30, hours=hours)
    SignatureRequest.objects.update(status="expired", expires_at=ended)
    assert overdue(Retention.objects.get()).count() == 1
    assert status() == expected


@pytest.mark.parametrize(("minutes", "expected"), [(50, "ok"), (70, "warning")])
def test_objects_that_the_store_does_not_delete(minutes: int, expected: str) -> None:
    ObjectToDelete.objects.create(object_key="sealed/1/x.pdf", since=clock.now() - timedelta(minutes=minutes))
    assert status() == expected
