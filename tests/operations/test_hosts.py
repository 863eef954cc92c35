"""A second machine: one with another secret is refused; one that ends says so before it closes."""

import json
import signal
import time
from collections.abc import Iterator

import httpx
import pytest
from django.test import override_settings

from paraph.kernel.secrets import Secrets
from paraph.tenants.installation import secret_is_ours
from paraph.tenants.models import Installation
from tests.cli.service import status, wait_until
from tests.operations.apart import Database, Parts
from tests.tenancy import create_application, create_organization

pytestmark = pytest.mark.thorough

_OTHER = "o" * 40
_REFUSAL = "The secret key of this machine is not that of the installation"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    database = Database(tmp_path_factory.mktemp("database"), begun=True)
    settings = {"PARAPH_SECRET_KEY": database.secret, "PARAPH_DRAIN_SECONDS": "3"}
    made = Parts(tmp_path_factory.mktemp("hosts"), database.url, **settings)
    made.start("web")
    wait_until(lambda: ready(made) == 200)
    yield made
    made.remove()
    database.remove()


def ready(parts: Parts) -> int:
    return status(f"{parts.url}/readyz")


def test_a_machine_with_another_secret_is_refused(parts: Parts) -> None:
    refused = parts.start("worker", PARAPH_SECRET_KEY=_OTHER)
    assert refused.wait(60) == 1
    assert parts.log("worker").splitlines()[-1].startswith(_REFUSAL)
    checked = parts.service.run("check", "--json", PARAPH_SECRET_KEY=_OTHER)
    found = {outcome["name"]: outcome for outcome in json.loads(checked.stdout)}
    assert checked.returncode == 1
    assert found["secret key"]["status"] == "failed" and found["secret key"]["sentence"].startswith(_REFUSAL)


def test_a_web_server_that_ends_says_so_before_it_closes(parts: Parts) -> None:
    web = parts._processes.pop("web")
    web.send_signal(signal.SIGTERM)
    began = time.monotonic()
    wait_until(lambda: ready(parts) == 503, 2.5)
    assert httpx.get(f"{parts.url}/healthz").status_code == 503
    assert httpx.get(f"{parts.url}/api/v1/documents").status_code == 401
    assert web.wait(40) == 0
    assert 3 <= time.monotonic() - began < 20
    assert ready(parts) == 0


@pytest.mark.django_db
def test_the_secret_is_known_by_its_fingerprint_or_else_by_what_it_opens() -> None:
    create_application(create_organization("Acme", "pro").pk, "sandbox", "backend")
    assert secret_is_ours()
    with override_settings(SECRETS=Secrets(b"another secret, as long as others")):
        assert not secret_is_ours()
    assert secret_is_ours()
    Installation.objects.all().delete()
    with override_settings(SECRETS=Secrets(b"another secret, as long as others")):
        assert not secret_is_ours()
    assert not Installation.objects.exists()
