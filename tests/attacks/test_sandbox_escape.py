"""Nothing of the service or its machine can be reached from inside a process that reads PDFs, whatever part of its
confinement the kernel lacks."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paraph.postgres import cluster
from tests.attacks.conftest import Target
from tests.attacks.inside import attempts
from tests.factories import pdf

ABSTRACT = f"paraph-attacked-{os.getpid()}"
ROOT = os.geteuid() == 0
GUARDED = {"trace the service", "copy memory of the service", "read the memory of the service"}
"""The attempts that a machine may refuse to accounts other than root, confined or not."""

Try = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def attempt(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Try]:
    """Yield a function that makes attempts in processes confined as readers are, without the ``forbidden`` calls."""
    database = cluster.find_location(target.data_dir, None).sockets / ".s.PGSQL.5432"

    def run(names: Any = attempts.ALL, *, free: bool = False, forbidden: tuple[str, ...] = ()) -> dict[str, Any]:
        scratch = tmp_path_factory.mktemp("scratch")
        (scratch / "file").write_bytes(b"x")
        facts = {
            "secret": str(target.data_dir / "secret.key"),
            "folder": str(target.data_dir),
            "tcp": target.port,
            "database": str(database),
            "abstract": ABSTRACT,
            "scratch": str(scratch),
            "file": str(scratch / "file"),
            "forbidden": forbidden,
            "free": free,
            "attempts": list(names),
        }
        command = [sys.executable, "-m", "tests.attacks.inside", json.dumps(facts)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + ABSTRACT)
        listener.listen()
        yield run


def succeeded(told: dict[str, Any]) -> set[str]:
    return {name for name, outcome in told["outcomes"].items() if outcome == "done"}


def test_each_attempt_succeeds_where_nothing_confines_it(attempt: Try) -> None:
    """Otherwise the tests below would prove nothing."""
    harmless = {**attempts.FILES, **attempts.NETWORK, **attempts.PROCESSES}
    may_fail = {"read the environment of the first process"} | (set() if ROOT else GUARDED)
    assert harmless.keys() - may_fail - succeeded(attempt(harmless, free=True)) == set()


def test_none_succeeds_from_inside(attempt: Try) -> None:
    told = attempt()
    assert set(told["missing"]) == {"namespaces", "Landlock", "seccomp"} - set(told["offered"])
    if "seccomp" not in told["missing"]:
        assert succeeded(told) == set()
        assert told["outcomes"]["run a program"] == told["outcomes"]["trace the service"] == "SIGSYS"


CONTAINERS = [("unshare",), ("landlock_create_ruleset",), ("unshare", "landlock_create_ruleset")]


@pytest.mark.parametrize("forbidden", CONTAINERS, ids=["no namespaces", "no Landlock", "neither"])
def test_none_succeeds_where_a_container_forbids_other_measures(attempt: Try, forbidden: tuple[str, ...]) -> None:
    told = attempt(forbidden=forbidden)
    without = {"unshare": "namespaces", "landlock_create_ruleset": "Landlock"}
    assert set(told["missing"]) >= {without[call] for call in forbidden}
    if "seccomp" not in told["missing"]:
        assert succeeded(told) == set()


def test_files_network_and_processes_stay_out_of_reach_without_a_filter(attempt: Try) -> None:
    told = attempt({**attempts.FILES, **attempts.NETWORK, **attempts.PROCESSES}, forbidden=("seccomp",))
    assert "seccomp" in told["missing"]
    if set(told["missing"]) == {"seccomp"}:
        assert succeeded(told) <= {"listen on a port"}  # in its own network, which has nobody else in it


def test_the_processes_that_a_service_reads_with_are_confined(target: Target, attempt: Try) -> None:
    offered = attempt([])["offered"]
    target.backend().upload(pdf())
    readers = [Path(f"/proc/{number}") for number in target.readers()]
    assert readers
    for reader in readers:
        status = dict(line.split(":\t", 1) for line in (reader / "status").read_text().splitlines() if ":\t" in line)
        assert status["NoNewPrivs"] == "1" and int(status["CapEff"], 16) == 0
        assert status["Threads"] == "1"
        if "seccomp" in offered:
            assert status["Seccomp"] == "2"
        if not ROOT:
            continue  # not even the same account can read what follows
        assert status["Uid"].split() == ["65534"] * 4
        environment = (reader / "environ").read_bytes().decode()
        assert not {name for line in environment.split("\0") if (name := line.partition("=")[0])} - {
            *("PATH", "PYTHONPATH", "LC_ALL", "LD_LIBRARY_PATH")
        }
        opened = sorted(str(descriptor.readlink()).partition(":")[0] for descriptor in (reader / "fd").iterdir())
        assert opened == ["/dev/null", "/dev/null", "/dev/urandom", f"/proc/{reader.name}/statm", "socket"]
        if "namespaces" in offered:
            for kind in ("net", "ipc", "uts", "mnt"):
                assert (reader / "ns" / kind).readlink() != Path("/proc/self/ns", kind).readlink()


def test_the_start_and_the_check_say_what_is_on(target: Target, attempt: Try) -> None:
    [told] = [outcome for outcome in target.command("check") if outcome["name"] == "confinement"]
    [logged] = [line for line in target.output if "PDFs are read in processes" in line]
    assert told["sentence"] in logged
    for measure in ("namespaces", "Landlock", "seccomp"):
        assert measure in told["sentence"]
    if len(attempt([])["offered"]) == 3:
        assert told["status"] == "ok"
        assert told["sentence"].startswith("PDFs are read in processes without network, files or programs: ")
