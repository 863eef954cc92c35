"""Expensive work of every kind finds no place while its organization has all the places it may have; work of other
organizations does."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from paraph.kernel import places
from paraph.tenants.scope import tenant_key
from tests.api.v1.api_clients import ApiClient, api_client, error
from tests.api.v1.test_templates import created
from tests.factories import scene
from tests.kernel.test_places import in_thread
from tests.pdf.pdf_factory import paper, text
from tests.production import Client

pytestmark = pytest.mark.django_db
PDF = paper(text("a", 100, 300))


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """A stack for held places, in a process of eight threads where nobody waits for long."""
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.05)
    places.configure(8)
    with ExitStack() as held:
        yield held
    places.configure(None)


def hold(busy: ExitStack, name: str) -> None:
    in_thread(lambda: busy.enter_context(places.expensive_work(name)))


def upload(client: ApiClient) -> int:
    return int(client.upload(PDF).status_code)


def test_a_call_of_the_api(busy: ExitStack) -> None:
    owner, other = api_client(), api_client()
    assert owner.organization
    hold(busy, str(owner.organization.pk))
    refused = owner.upload(PDF)
    assert error(refused, 503, "unavailable") and refused["Retry-After"] == "5"
    refused = owner.get("/templates")
    assert error(refused, 503, "unavailable").startswith("The service is too busy") and refused["Retry-After"] == "5"
    assert owner.get("/health").status_code == 200
    assert (upload(other), other.get("/templates").status_code) == (201, 200)
    busy.close()
    assert upload(owner) == 201


def test_a_large_signing_page_and_pictures_of_each(busy: ExitStack) -> None:
    made, large, others = scene(), scene(pages=400), scene()
    hold(busy, tenant_key(made.request))
    stamp = "/stamp.svg?width=200&height=60"
    assert Client().get(made.url()).status_code == 200
    refused = Client().get(made.url(rest=stamp))
    assert (refused.status_code, refused.json()["error"]["code"], refused["Retry-After"]) == (503, "unavailable", "5")
    assert Client().get(others.url(rest=stamp)).status_code == 200
    hold(busy, tenant_key(large.request))
    refused = Client().get(large.url())
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    busy.close()
    assert Client().get(large.url()).status_code == 200


@pytest.mark.parametrize("many", [True, False])
def test_many_fields_of_a_signer(many: bool, busy: ExitStack) -> None:
    """Reading the fields and entering values both need a place where the fields are many."""
    options = [str(number) for number in range(50)]
    fields = [{"type": "choice", "name": f"F{number}", "options": options} for number in range(7 if many else 5)]
    made = scene(fields=fields)
    hold(busy, tenant_key(made.request))
    entered: dict[str, list[Any]] = {"fields": []}
    for answer in (
        Client().get(made.url(rest="/fields")),
        Client().post(made.url(rest="/fields"), entered, content_type="application/json"),
    ):
        assert answer.status_code == (503 if many else 200)
    busy.close()
    assert Client().get(made.url(rest="/fields")).status_code == 200


def test_a_template_that_is_sent(busy: ExitStack) -> None:
    owner = api_client()
    template = created(owner)["id"]
    assert owner.organization
    hold(busy, str(owner.organization.pk))
    sending = owner.post(f"/templates/{template}/signature_requests", {"signature_request": {}})
    assert error(sending, 503, "unavailable")


def test_what_belongs_to_nobody_is_always_answered(busy: ExitStack) -> None:
    hold(busy, "hog")
    for path in ("/healthz", "/docs"):
        assert Client().get(path).status_code == 200
