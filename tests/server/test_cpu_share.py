"""A party that has had its share is refused as soon as it is known, whichever way it comes in, before its body is
read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from paraph.kernel import cpu_share
from paraph.tenants.scope import tenant_key
from tests.api.v1.api_clients import api_client, error
from tests.factories import scene
from tests.kernel.turn_holders import Holders
from tests.production import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def holders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Holders]:
    """In a process of four threads. Whoever comes has had its share."""
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LITTLE", 0.0)
    cpu_share.configure(4)
    with ThreadPoolExecutor(4) as threads:
        made = Holders(threads)
        yield made
        made.over.set()
    cpu_share.configure(None)


def hold(holders: Holders, name: str) -> None:
    """All that the party may have, while another one comes as well."""
    holders.take("somebody else", 1)
    holders.take(name, 1)


def test_a_call_of_the_api(holders: Holders) -> None:
    owner, other = api_client(), api_client()
    assert owner.organization
    hold(holders, f"{owner.organization.pk} sandbox")
    for method, path in (("POST", "/signature_requests"), ("GET", "/signature_requests")):
        refused = owner.send(method, path, b"no JSON")
        assert error(refused, 503, "unavailable").startswith("The service is too busy")
        assert refused["Retry-After"] == "5"
    assert other.send("POST", "/signature_requests", b"no JSON").status_code == 422
    assert api_client("pro", "production", owner.organization).get("/documents").status_code == 200
    holders.over.set()


def test_an_endpoint_of_a_signing_page(holders: Holders) -> None:
    made, others = scene(), scene()
    hold(holders, tenant_key(made.request))
    for url in (made.url(rest="/otp"), made.url(rest="/signature")):
        refused = Client().post(url, b"no JSON", "application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
        assert refused["Retry-After"] == "5"
    assert Client().get(made.url(rest="/progress")).status_code == 503
    assert Client().post(others.url(rest="/otp"), b"no JSON", "application/json").status_code == 422


def test_a_signing_page(holders: Holders) -> None:
    made = scene()
    hold(holders, tenant_key(made.request))
    for rest in ("", "/ask"):
        refused = Client().get(made.url(rest=rest), headers={"Accept": "text/html"})
        assert refused.status_code == 503
        assert refused["Retry-After"] == "5"
        assert "<html" in refused.content.decode()
    plain = Client().get(made.url())
    assert (plain.status_code, plain["Retry-After"]) == (503, "5")
    assert Client().get(scene().url()).status_code == 200


def test_what_belongs_to_nobody_is_always_answered(holders: Holders) -> None:
    hold(holders, "hog")
    for path in ("/healthz", "/docs"):
        assert Client().get(path).status_code == 200
