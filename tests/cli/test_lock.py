"""The lock of a data folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from paraph.cli import lock
from paraph.cli.lock import DataFolderLock
from paraph.kernel.errors import DomainError


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
    monkeypatch.setattr(lock, "_START_SECONDS", 0.2)
    service, command = DataFolderLock(tmp_path), DataFolderLock(tmp_path)
    service.take_for_service()
    with pytest.raises(DomainError, match="still starting"):
        command.wait_until_ready()
    service.mark_ready()
    assert command.wait_until_ready()
    service.release()
    assert not command.wait_until_ready()
    command.release()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, os, signal; from pathlib import Path; from paraph.cli.lock import DataFolderLock; "
        "DataFolderLock(Path(sys.argv[1])).take_for_service(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert (tmp_path / "service.lock").read_text().endswith("serve starting\n")
    DataFolderLock(tmp_path).take_for_service()
