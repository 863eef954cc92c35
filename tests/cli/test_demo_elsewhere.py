"""``examples/demo.py --url``: a smoke test of a running service; and how long the demo waits for its own service."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paraph.keys.development import development_authority, root_file
from tests.cli import forked
from tests.cli.service import Service, clean_environment, processes_of, wait_until

pytestmark = pytest.mark.thorough


def demo(*arguments: object) -> "subprocess.CompletedProcess[str]":
    environment = clean_environment(Path("/nowhere"))
    return forked.run("examples.demo", *(str(each) for each in arguments), environment=environment)


def test_it_signs_there_and_verifies_what_comes_back(service: Service, tmp_path: Path) -> None:
    root = service.root
    done = demo("--url", service.base_url + "/", "--key", service.key, "--root", root, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Everything matches.\n")
    assert json.loads((tmp_path / "report.json").read_text())["verified"] is True
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"uploaded.pdf", "signed.pdf", "proof.pdf", "audit.json", "report.json"}


def test_mails_go_to_the_operator_and_roots_need_not_be_given(service: Service, tmp_path: Path) -> None:
    options = ["--email", "operator@example.org", "--out", tmp_path]
    done = demo("--url", service.base_url, "--key", service.key, *options)
    assert done.returncode == 0 and "Everything is intact." in done.stdout, done.stderr
    assert "operator@example.org" in {message["to"] for message in service.inbox()}


def test_the_roots_of_others_are_told_apart(service: Service, tmp_path: Path) -> None:
    development_authority(tmp_path, b"another secret of another service")
    options = ["--root", root_file(tmp_path), "--out", tmp_path / "out"]
    done = demo("--url", service.base_url, "--key", service.key, *options)
    assert done.returncode == 1 and "proof.pdf" in done.stderr
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verified"] is False


def test_only_the_sandbox_is_signed_in(service: Service, tmp_path: Path) -> None:
    production = service.new_key(environment="production")
    done = demo("--url", service.base_url, "--key", production, "--out", tmp_path)
    assert done.returncode == 1 and "The key is of production" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_is_wrong_is_said_in_a_sentence(service: Service, tmp_path: Path) -> None:
    refused = demo("--url", service.base_url, "--key", "pk_wrong", "--out", tmp_path)
    silent = demo("--url", "http://127.0.0.1:9", "--key", "any", "--out", tmp_path)
    alone = demo("--url", service.base_url)
    assert refused.returncode == 1 and "401" in refused.stderr
    assert silent.returncode == 1 and "http://127.0.0.1:9 does not answer" in silent.stderr
    assert alone.returncode == 2 and "--url and --key go together" in alone.stderr
    assert not any("Traceback" in each.stderr for each in (refused, silent, alone))


STILL_SECONDS = 65  # longer than any part of a start may take by itself
DEMO = Path(__file__).parents[2] / "examples/demo.py"


def test_the_demo_waits_for_a_service_that_lives(tmp_path: Path) -> None:
    """The process of the service stands still for more than a minute, like one that gets no processor time."""
    environment = clean_environment(tmp_path / "data", TMPDIR=str(tmp_path))
    command = [sys.executable, str(DEMO), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as demo:
        wait_until(lambda: list(tmp_path.glob("paraph-demo-*/serve.log")) != [])
        wait_until(lambda: _service(tmp_path) != 0)
        pid = _service(tmp_path)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STILL_SECONDS)
        assert demo.poll() is None
        os.kill(pid, signal.SIGCONT)
        assert demo.stdout
        assert demo.stdout.read().endswith("\nEverything matches.\n")
    assert demo.returncode == 0


def _service(folder: Path) -> int:
    """The first process with the demo's data folder, or 0."""
    return min(processes_of(next(folder.glob("paraph-demo-*"))), default=0)
