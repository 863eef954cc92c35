"""GET /health (rule 4.10)."""

from datetime import UTC, datetime, timedelta

import pytest

import paraph
from paraph.kernel import clock
from paraph.tenants.models import Usage
from tests.api.v1.api_clients import ApiClient, api_client


@pytest.mark.django_db
@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_it_tells_environment_version_and_time(environment: str) -> None:
    content = api_client("pro", environment).get("/health").json()
    time = datetime.fromisoformat(content.pop("time"))
    assert content == {"status": "ok", "environment": environment, "version": paraph.__version__}
    assert abs(clock.now() - time) < timedelta(seconds=5) and time.tzinfo == UTC


def test_it_is_counted(owner: ApiClient) -> None:
    owner.get("/health")
    owner.get("/health")
    assert Usage.objects.get().minute_calls in (1, 2)  # a minute may have ended in between
    assert Usage.objects.get().hour_calls in (1, 2)
