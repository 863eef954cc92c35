"""What a start begins with: its line in the log, the lock of the data folder, the supervisor."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from paraph import __version__
from paraph.cli.session import DataFolderLock, log_start
from paraph.kernel.errors import DomainError
from tests.config.test_documentation import FIELDS

CREDENTIAL = "sesame-sesame-sesame-sesame-sesame"


def started(command: str) -> dict[str, Any]:
    with capture_logs() as lines:
        log_start(command)
    [line] = lines
    return dict(line)


def test_the_version_and_what_is_set_up_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"PARAPH_WEB_PROCESSES": 3, "PARAPH_SEAL_LEVEL": "B-T", "PARAPH_MESSAGES_PRO": "10/30"}
    places = {"STORAGE_URL": "s3://bucket/folder", "SEALING_KEY": "pkcs11:token=seal?module-path=/lib/p11.so"}
    for name, value in [*told.items(), *((f"PARAPH_{name}", value) for name, value in places.items())]:
        monkeypatch.setenv(name, str(value))
    line = started("web")
    assert line["event"] == "Paraph starts"
    assert (line["command"], line["version"], line["database"]) == ("web", __version__, "embedded")
    assert (line["storage"], line["sealing_key"], line["web_processes"]) == ("s3", "pkcs11", 3)
    assert line["settings"].items() >= (told | {"PARAPH_STORAGE_URL": "set"}).items()


@pytest.mark.parametrize("variable", [name for name, field in FIELDS.items() if field.annotation is str])
def test_no_text_is_told(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    address = f"http://user:{CREDENTIAL}@proxy:80"
    addresses = {"PARAPH_OUTBOUND_PROXY": address, "PARAPH_STORAGE_PUBLIC_URL": address, "PARAPH_SSO_ISSUER": ""}
    if value := addresses.get(variable, f"postgresql://user:{CREDENTIAL}@host/name"):
        monkeypatch.setenv(variable, value)
        line = started("worker")
        assert line["settings"][variable] == "set"
        assert CREDENTIAL not in str(line)


def test_one_service_at_a_time(tmp_path: Path) -> None:
    first, second = DataFolderLock(tmp_path), DataFolderLock(tmp_path)
    first.take_for_service()
    with pytest.raises(DomainError, match="Paraph already runs on"):
        second.take_for_service()
    assert not second.take("command")
    first.release()
    second.take_for_service()
    second.release()


def test_a_command_waits_for_a_service_to_be_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.cli.session._START_SECONDS", 0.2)
    service, command = DataFolderLock(tmp_path), DataFolderLock(tmp_path)
    service.take_for_service()
    with pytest.raises(DomainError, match="still starting"):
        command.wait_until_ready()
    service.mark_ready()
    assert command.wait_until_ready()
    service.release()
    assert not command.wait_until_ready()
    command.release()


def said_by(script: str) -> str:
    """The output of a script in a process of its own: children must be forked from a process without threads."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


SCRIPT = """
import signal, time
from paraph.cli.supervisor import Child, Supervisor

def ends_in_a_second():
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    while not ended:
        time.sleep(0.05)
    time.sleep(1)

supervisor = Supervisor([Child("web", lambda: time.sleep(60), 15), Child("worker", ends_in_a_second, 15)], lambda: None)
with supervisor.listening():
    began = time.monotonic()
    supervisor.run(until=lambda: time.monotonic() - began > 1)
    used, began = time.process_time(), time.monotonic()
    supervisor.stop()
print(time.monotonic() - began, time.process_time() - used)
"""


def test_who_waits_for_the_last_child_uses_no_processor_meanwhile() -> None:
    waited, used = map(float, said_by(SCRIPT).split()[-2:])
    assert waited >= 1 and used < 0.05


FAILED_FOR_HOURS = """
import time
from paraph.cli.supervisor import Child, Supervisor

child = Child("worker", lambda: None, 15, failures=5000)
supervisor = Supervisor([child], lambda: None)
with supervisor.listening():
    supervisor.run(until=lambda: child.failures > 5000)
    print("again in", round(child.due - time.monotonic()), "s")
    supervisor.stop()
"""


def test_a_child_that_has_failed_for_hours_is_still_tried() -> None:
    assert said_by(FAILED_FOR_HOURS).endswith("again in 10 s\n")
