"""A database that goes away under ``paraph web`` and ``paraph worker``, which nobody starts again. tests/chaos tests
that no restart of the database loses anything."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.cli.service import status, wait_until
from tests.operations.apart import Database, Flows, Parts
from tests.scenarios.people import Backend

pytestmark = pytest.mark.thorough

_DEADLINE = 150.0  # s for one flow, outages included; machines that run tests are busy
_PAGE = {"Accept": "text/html", "Accept-Language": "de"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = Database(tmp_path_factory.mktemp("database"), begun=True)
    yield made
    made.remove()


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, database: Database) -> Iterator[Parts]:
    settings = {"PARAPH_SECRET_KEY": database.secret, "PARAPH_MESSAGES_PER_DESTINATION": "0"}
    made = Parts(tmp_path_factory.mktemp("parts"), database.url, **settings)
    made.start("web")
    made.start("worker")
    yield made
    made.remove()


@pytest.fixture(scope="module")
def client(parts: Parts) -> "PatientClient":
    client = PatientClient(parts.url, parts.service.new_key())
    wait_until(lambda: client.ready() == 200)
    return client


class PatientClient(Backend):
    """A client that repeats every call that is answered 503. ``answers``: the answers that were no success."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__(url, key)
        self.answers: list[httpx.Response] = []

    def ready(self) -> int:
        return status(f"{self.url}/readyz")

    def flow(self) -> int:
        """Make a request and sign it. Return its id."""
        made = self.created()
        self.sign(made["signers"][0]["signing_url"])
        return int(made["id"])

    def created(self) -> dict[str, Any]:
        return self.ask("ada", send_email=True, identity_declaration_accepted=True)

    def sign(self, url: str) -> None:
        code = self.answered("POST", f"{url}/otp", json={"channel": "email"}).json()["sandbox_code"]
        body = {"code": code, "consent": True, "signature": {"type": "typed"}, "locale": "en"}
        self.answered("POST", f"{url}/signature", json=body)

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.answered(method, f"{self.url}/api/v1/{path}", headers={"X-Api-Key": self.api_key}, **options)

    def answered(self, method: str, url: str, **what: Any) -> httpx.Response:
        deadline = time.monotonic() + _DEADLINE
        while True:
            response = httpx.request(method, url, **what | {"timeout": 60})
            if response.is_success or response.status_code == 409:  # done by a call whose answer was lost
                return response
            self.answers.append(response)
            assert response.status_code == 503, response.text
            assert time.monotonic() < deadline
            time.sleep(0.2)


@contextmanager
def traffic(client: PatientClient) -> Iterator[Flows]:
    flows = Flows(client.flow, _DEADLINE)
    flows.start()
    flows.go_on(1)
    yield flows
    requests = flows.end()
    wait_until(lambda: all(client.read(request_id)["finalized"] for request_id in requests), _DEADLINE)


def test_an_outage_is_told_and_outlived(database: Database, parts: Parts, client: PatientClient) -> None:
    """12 s without a database, longer than workers wait for connections and heartbeats; every caller is told of it."""
    made = client.created()
    address = made["signers"][0]["signing_url"]
    with traffic(client) as flows:
        client.answers.clear()
        database.stop("fast")
        away = time.monotonic()
        wait_until(lambda: client.ready() == 503)
        call = httpx.get(f"{parts.url}/api/v1/documents", headers={"X-Api-Key": client.api_key}, timeout=60)
        page = httpx.get(address, headers=_PAGE, timeout=60)
        picture = httpx.get(f"{address}/documents/1/pages/1.webp", timeout=60)
        code = httpx.post(f"{address}/otp", json={"channel": "email"}, timeout=60)
        assert httpx.get(f"{parts.url}/healthz", timeout=60).status_code == 200
        for answer in (call, picture, code):
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert call.json()["error"]["message"].startswith("The service is not available at the moment.")
        assert page.status_code == 503
        assert "Die Seite ist im Augenblick nicht verfügbar" in page.text
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in (call, page, picture, code))
        time.sleep(max(0, 12 - (time.monotonic() - away)))
        before = len(flows.requests)
        database.start()
        wait_until(lambda: client.ready() == 200, 30)
        wait_until(lambda: len(flows.requests) > before, 30)
    assert client.answers
    assert all(answer.headers["Retry-After"] for answer in client.answers)
    assert_alive(parts)


def test_work_goes_on_within_seconds(database: Database, parts: Parts, client: PatientClient) -> None:
    """No call wakes the worker meanwhile: it finds its way back by itself."""
    database.stop("immediate")
    time.sleep(4)
    database.start()
    wait_until(lambda: client.ready() == 200, 30)
    made = client.created()
    client.sign(made["signers"][0]["signing_url"])
    began = time.monotonic()
    client.finalized(made["id"])
    assert time.monotonic() - began < 15
    # At most once for each outage and queue: a connection that nobody renews would fail at every new start.
    assert parts.log("worker").count("Side task deferrer failed") <= 10
    assert_alive(parts)


def test_a_worker_can_be_ended_while_the_database_is_away(database: Database, parts: Parts) -> None:
    database.stop("fast")
    time.sleep(1)
    status, seconds = parts.end("worker")
    assert status == 0 and seconds < 30
    database.start()


def assert_alive(parts: Parts) -> None:
    assert {name: process.poll() for name, process in parts._processes.items()} == {"web": None, "worker": None}
    assert "incident" not in parts.log("web")  # an incident would be a fault of ours
