"""What load balancers are told of a process; what concerns all processes alike stands in the figures alone."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paraph.database import connections
from paraph.database.base import DatabaseWrapper
from paraph.kernel import places
from paraph.kernel.errors import DomainError
from paraph.operations.check import service_checks
from paraph.operations.check.outcome import Outcome, ok
from paraph.operations.check.service_checks import KeptOutcomes, require_start
from paraph.operations.exposition import exposition
from tests.kernel.test_places import in_thread
from tests.keys.certified_keys import make_root
from tests.keys.kms_service import fault, kms_server
from tests.production import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.health.pages.READINESS", KeptOutcomes(lambda: service_checks.SERVING))
    monkeypatch.setattr("paraph.operations.exposition.FIGURES", KeptOutcomes(lambda: service_checks.CHECKS))


def told_as(line: str) -> int:
    """The figure of ``/metrics`` for a line of ``paraph check``."""
    [found] = re.findall(rf'^paraph_check\{{line="{line}"\}} (\d)', exposition().decode(), re.MULTILINE)
    return int(found)


def test_nothing_in_it_asks_the_mail_server(client: Client, configured: Callable[..., None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(0)
        configured(smtp_url=f"smtp://127.0.0.1:{silent.getsockname()[1]}")
        answer = client.get("/readyz")
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "checks": {"database": "ok", "clock": "ok", "typesetting": "ok"}}


def test_ready_though_the_database_has_another_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock would be wrong on all servers alike, so the line ``clock`` is told and does not decide."""
    monkeypatch.setattr("paraph.operations.check.outcome._NOTICEABLE", timedelta(0))
    monkeypatch.setattr("paraph.operations.check.outcome._WRONG", timedelta(-1))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["clock"]) == (200, "failed")


@pytest.mark.parametrize("taken", [False, True])
def test_ready_where_expensive_work_takes_places(taken: bool, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each web process has places, and one without a free place is busy, not broken. Other tests have no places."""
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.05)
    places.configure(8)
    with ExitStack() as held:
        for tenant in ("one", "other") if taken else ():
            in_thread(partial(held.enter_context, places.expensive_work(tenant)))
        answer = client.get("/readyz")
    places.configure(None)
    assert (answer.status_code, answer.json()["checks"]["typesetting"]) == (200, "warning" if taken else "ok")


@pytest.mark.usefixtures("store_away")
def test_ready_without_storage_which_the_figures_tell(client: Client) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"], told_as("storage")) == (200, True, 2)


def test_not_ready_where_nothing_can_be_typeset(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panic of Typst is no ``Exception``."""

    class PanicException(BaseException):
        __module__ = "pyo3_runtime"

    class Broken:
        def __init__(self, **_options: Any) -> None:
            raise PanicException("out of file ids")

    monkeypatch.setattr("paraph.pdf.typesetting.typeset._idle", [])
    monkeypatch.setattr("typst.Compiler", Broken)
    answer = client.get("/readyz")
    assert answer.status_code == 503 and answer.json()["checks"]["typesetting"] == "failed"
    monkeypatch.undo()
    monkeypatch.setattr("paraph.health.pages.READINESS", KeptOutcomes(lambda: service_checks.SERVING))
    assert client.get("/readyz").json()["checks"]["typesetting"] == "ok"


def test_ready_though_nothing_can_be_sealed(
    client: Client, configured: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new start would fail, but a running process takes signatures, and their seals wait."""
    with kms_server(monkeypatch) as server:
        chain = make_root().chain(tmp_path, server.key.public_key())
        configured(sealing_key=server.arn, sealing_certificate=chain)
        server.faults += [fault(400, "AccessDeniedException")] * 40
        assert (client.get("/readyz").status_code, told_as("sealing")) == (200, 2)
        with pytest.raises(DomainError, match="AccessDeniedException"):
            require_start()


def test_an_outcome_is_believed_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    real = service_checks.outcomes_by_check

    def counting(checks: Any, seconds: float) -> Any:
        looks.append([check.name for check in checks])
        return real(checks, seconds)

    monkeypatch.setattr(service_checks, "outcomes_by_check", counting)
    kept = KeptOutcomes(lambda: service_checks.CHECKS)
    assert kept.statuses() == kept.statuses()
    assert len(looks[0]) == sum(check.valid_seconds > 0 for check in service_checks.CHECKS) and looks[1] == []


def test_a_check_that_was_late_is_made_again_soon(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that a busy machine did not finish at its start keeps it out of the balance for seconds only."""
    now, slow = [1000.0], threading.Event()

    def typesetting() -> Iterator[Outcome]:
        if not slow.is_set():
            slow.wait(30)
        yield ok("It typesets.", "typesetting")

    others = [check for check in service_checks.SERVING if check.name != "typesetting"]
    checks = [*others, service_checks.ServiceCheck("typesetting", typesetting, 300, serving=True)]
    monkeypatch.setattr(service_checks, "SERVING", checks)
    monkeypatch.setattr(service_checks, "_WAIT_SECONDS", 2.0)
    monkeypatch.setattr(service_checks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert client.get("/readyz").json()["checks"]["typesetting"] == "failed"
    slow.set()
    now[0] += 5
    assert client.get("/readyz").status_code == 503
    now[0] += 6
    assert client.get("/readyz").status_code == 200


def test_strangers_are_told_yes_or_no_and_no_more(client: Client, configured: Callable[..., None]) -> None:
    for stranger in ({"REMOTE_ADDR": "203.0.113.9"}, {"headers": {"X-Forwarded-For": "127.0.0.1"}}):
        answer = client.get("/readyz", **stranger)
        assert (answer.status_code, answer.json()) == (200, {"ready": True})
    configured(metrics_token="open sesame")
    assert client.get("/readyz").json() == {"ready": True}
    told = client.get("/readyz", headers={"Authorization": "Bearer open sesame"}).json()
    assert told["checks"]["database"] == "ok"


def test_looks_after_each_other_have_the_same_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load balancers ask every two seconds. Idle sessions are given back, as in each web process."""
    made = []
    real = DatabaseWrapper.get_new_connection

    def counting(wrapper: DatabaseWrapper, parameters: dict[str, Any]) -> Any:
        made.append(parameters)
        return real(wrapper, parameters)

    monkeypatch.setattr(DatabaseWrapper, "get_new_connection", counting)
    checks = [check for check in service_checks.CHECKS if check.name == "database" or check.asks]
    given_back = threading.Event()
    given_back.set()
    monkeypatch.setattr(service_checks, "is_given_back", given_back)
    for _ in range(5):
        assert all(service_checks.outcomes_by_check(checks, 60).values())
    assert 1 <= len(made) <= 2
    monkeypatch.setattr(service_checks, "is_given_back", threading.Event())
    connections.give_back()
    assert len(service_checks._sessions) == len(made)
    assert all(kept.connection.closed for kept in service_checks._sessions)  # though their threads have ended
    assert all(service_checks.outcomes_by_check(checks, 60).values())
