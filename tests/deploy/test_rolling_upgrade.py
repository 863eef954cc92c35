"""Two web servers behind the Caddy of ``compose.yaml`` are replaced in turn under load: nobody is refused."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
import yaml

from tests.attacks.front import Front, started
from tests.cli.service import status, wait_until
from tests.factories import pdf
from tests.independent import need
from tests.operations.apart import Database, Flows, Parts

COMPOSE = yaml.safe_load((Path(__file__).parents[2] / "compose.yaml").read_text())
CALLERS = 2
_PATIENCE = 180  # s; machines that run tests are busy


def test_compose_names_both_web_servers_to_the_proxy() -> None:
    services = COMPOSE["services"]
    named = services["proxy"]["environment"]["PARAPH_UPSTREAM"].split()
    assert named == ["web-a:8000", "web-b:8000"] and services["web-a"] == services["web-b"]
    assert all(services[each.partition(":")[0]]["command"] == ["paraph", "web"] for each in named)


def test_what_fills_the_disk_is_bounded_and_backups_have_a_place() -> None:
    services = COMPOSE["services"]
    assert all(service["logging"]["options"] == {"max-size": "20m", "max-file": "10"} for service in services.values())
    assert all("backups:/backups" in services[name]["volumes"] for name in ("web-a", "web-b", "worker"))
    assert "backups" in COMPOSE["volumes"]
    folders = "install -d -o paraph -g paraph -m 700 /data /backups"  # a new volume takes over their owner
    assert folders in (Path(__file__).parents[2] / "Dockerfile").read_text()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Parts]]:
    """Two web servers with one data folder."""
    need("caddy", "caddy")
    database = Database(tmp_path / "database", begun=True)
    settings = {"PARAPH_DATA_DIR": str(tmp_path / "shared"), "PARAPH_SECRET_KEY": database.secret}
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made.append(Parts(tmp_path / name, database.url, **settings))
    for each in made:
        each.start("web", PARAPH_TRUSTED_PROXIES="127.0.0.1")
    for each in made:
        wait_until(lambda url=each.url: status(f"{url}/readyz") == 200, _PATIENCE)  # type: ignore[misc]
        each.service.key = database.key
    yield made
    for each in made:
        each.remove()
    database.remove()


@pytest.mark.thorough
def test_nobody_is_refused_while_both_are_replaced(servers: list[Parts], tmp_path: Path) -> None:
    one, other = (each.service.port for each in servers)
    with started("caddy", tmp_path, one, other) as front, calling(front, servers[0].service.key) as go_on:
        go_on(5)
        for each in servers:
            assert each.end("web")[0] == 0
            go_on(5)
            each.start("web", PARAPH_TRUSTED_PROXIES="127.0.0.1")
            wait_until(lambda url=each.url: status(f"{url}/readyz") == 200, _PATIENCE)  # type: ignore[misc]
            go_on(25)  # meanwhile the proxy, which looks each second, finds it again
        assert all("Paraph starts" in each.log("web") for each in servers)


def is_busy(answer: httpx.Response) -> bool:
    """Return whether the service says that it is busy, as on a slow machine. Raise for any other refusal."""
    if answer.status_code == 503 and answer.headers["Content-Type"].startswith("application/json"):
        return bool(answer.json()["error"]["code"] == "unavailable")
    answer.raise_for_status()
    return False


@contextmanager
def calling(front: Front, key: str) -> Iterator[Callable[[int], None]]:
    """Callers that upload and read, one call after another, and repeat nothing but what the service was too busy for.
    Yield a function that returns once each of them has done so many times more, and fails where one was refused."""

    def call(client: httpx.Client) -> int:
        headers, file = {"X-Api-Key": key}, {"file": ("a.pdf", pdf(), "application/pdf")}
        while is_busy(client.post("/api/v1/documents", files=file, headers=headers, timeout=60)):
            pass
        while is_busy(listed := client.get("/api/v1/documents", headers=headers, timeout=60)):
            pass
        return listed.status_code

    with ExitStack() as stack:
        clients = [stack.enter_context(front.client(f"127.0.0.{2 + number}")) for number in range(CALLERS)]
        callers = [Flows(partial(call, client), _PATIENCE) for client in clients]
        for each in callers:
            each.start()

        def go_on(calls: int) -> None:
            for each in callers:
                each.go_on(calls)

        yield go_on
        for each in callers:
            each.end()
