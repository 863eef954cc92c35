"""The secret is rotated on two machines behind a balancer, restarted one by one as docs/operating.md says, while people
sign: nobody notices."""

import hashlib
import hmac
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.service import wait_until
from tests.dashboard.editor_window import owners_browser
from tests.operations.apart import Database, Flows, Machines, Parts
from tests.receiver import Receiver, receiver
from tests.scenarios.people import Backend

pytestmark = pytest.mark.thorough

OLD, NEW = "o" * 64, "n" * 64
_PATIENCE = 180  # s; machines that run tests are busy


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "database")
    yield made
    made.remove()


@pytest.fixture
def machines(tmp_path: Path, database: Database) -> Iterator[Machines]:
    """Two machines with one data folder, as on a network drive, and one address."""
    settings = {"PARAPH_MESSAGES_PER_DESTINATION": "0", "PARAPH_DRAIN_SECONDS": "1"}
    settings |= {"PARAPH_DATA_DIR": str(tmp_path / "shared")}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one = Parts(tmp_path / "one", database.url, **settings)
    two = Parts(tmp_path / "two", database.url, **settings, PARAPH_BASE_URL=one.url)
    one.service.environment["PARAPH_SECRET_KEY"] = OLD
    done = one.service.run("migrate")
    assert done.returncode == 0, done.stderr
    made = Machines([one, two])
    for machine in made.all:
        made.start(machine, PARAPH_SECRET_KEY=OLD)
    yield made
    made.remove()


@pytest.fixture
def hooks() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


class Balanced(Backend):
    """A client that repeats nothing: any answer but a success is an error."""

    def __init__(self, machines: Machines, key: str) -> None:
        super().__init__("", key)
        self._machines = machines

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        options = {"headers": {"X-Api-Key": self.api_key}} | options
        options.pop("timeout", None)  # the machines have their own
        return self.asked(method, f"/api/v1/{path}", **options)

    def asked(self, method: str, path: str, **what: Any) -> httpx.Response:
        answer = self._machines.call(method, path, **what)
        assert answer.is_success, (method, path, answer.status_code, answer.text)
        return answer

    def code(self, link: str) -> str:
        return str(self.asked("POST", f"{link}/otp", json={"channel": "email"}).json()["sandbox_code"])

    def sign(self, link: str, code: str) -> None:
        body = {"code": code, "consent": True, "signature": {"type": "typed"}, "locale": "en"}
        self.asked("POST", f"{link}/signature", json=body)

    def download(self, request_id: int) -> str:
        return str(self.read(request_id)["download_urls"][0]["signed_url"])


class Flow:
    """A flow, after which the addresses in ``held`` still answer, and ``browser`` is still logged in."""

    def __init__(self, backend: Balanced, machines: Machines, browser: httpx.Client, held: set[str]) -> None:
        self._backend, self._machines, self._browser, self.held = backend, machines, browser, held

    def __call__(self) -> int:
        made = self._backend.ask("bea")
        link = made["signers"][0]["signing_url"]
        self._backend.sign(link, self._backend.code(link))
        for address in sorted(self.held):
            self._backend.asked("GET", address)
        page = self._machines.call("GET", "/app/", self._browser, follow_redirects=True)
        assert page.status_code == 200 and "/account/login/" not in str(page.url), page.url
        return int(made["id"])


def test_machines_are_given_another_secret_one_by_one_and_nobody_notices(machines: Machines, hooks: Receiver) -> None:
    one = machines.all[0]
    application = one.service.new_application("enterprise", "sandbox", "--webhook-url", hooks.url())
    backend = Balanced(machines, application["api_key"])
    browser = owners_browser(one.service, application["organization_id"])
    early = backend.ask("ada")
    backend.sign(early["signers"][0]["signing_url"], backend.code(early["signers"][0]["signing_url"]))
    backend.finalized(early["id"], _PATIENCE)
    waiting = backend.ask("ada", "bob", "cid")
    ada, bob, cid = [each["signing_url"] for each in waiting["signers"]]
    code = backend.code(ada)
    address = backend.download(early["id"])
    flow = Flow(backend, machines, browser, {cid, address})
    flows = Flows(flow, _PATIENCE)
    flows.start()
    flows.go_on(2)

    both = {"PARAPH_SECRET_KEY": NEW, "PARAPH_SECRET_KEY_PREVIOUS": OLD}
    machines.restart(machines.all[0], **both)
    backend.sign(ada, code)
    flows.go_on(2)
    machines.restart(machines.all[1], **both)
    flows.go_on(2)
    code = backend.code(bob)

    one.service.environment |= both
    assert one.service.command("secret", "rotate")["in_use"] == "newest"
    backend.sign(bob, code)
    flows.go_on(2)
    wait_until(lambda: one.service.command("secret", "status")["done"], _PATIENCE)

    del one.service.environment["PARAPH_SECRET_KEY_PREVIOUS"]
    flow.held.discard(address)  # not valid without the earlier secret, nor after a quarter of an hour
    flows.go_on(2)
    for machine in machines.all:
        machines.restart(machine, PARAPH_SECRET_KEY=NEW)
        flows.go_on(2)
    assert machines.call("GET", address).status_code == 403
    flow.held.add(backend.download(early["id"]))
    flows.go_on(2)
    signed = flows.end()
    backend.sign(cid, backend.code(cid))

    done = [early["id"], waiting["id"], *signed]
    for request_id in done:
        backend.finalized(request_id, _PATIENCE)
    wait_until(lambda: _heard_completed(hooks, application["webhook_secret"]) == sorted(done), _PATIENCE)
    assert not [log for log in machines.logs() if "incident" in log or "job gave up" in log]


def _heard_completed(hooks: Receiver, secret: str) -> list[int]:
    """The ids of the requests that webhooks said were completed; each webhook must be signed with the secret."""
    found = set()
    for hook in list(hooks.received):
        signed = hmac.new(secret.encode(), hook.body, hashlib.sha256).hexdigest()
        assert hook.headers["X-Service-Signature"] == f"sha256={signed}"
        if hook.headers["X-Service-Event"] == "request.completed":
            found.add(int(httpx.Response(200, content=hook.body).json()["signature_request"]["id"]))
    return sorted(found)
