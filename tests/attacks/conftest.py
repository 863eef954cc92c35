"""A really served process to attack."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.service import Service, remove
from tests.scenarios.people import Backend


@pytest.fixture(autouse=True, scope="session")
def _linux() -> None:
    if sys.platform != "linux":
        pytest.skip("memory is bounded as Linux does")


def _reads(process: str) -> bool:
    return b"paraph.pdf.untrusted.jobs.worker" in Path(f"/proc/{process}/cmdline").read_bytes()


class Target(Service):
    """One web process and one worker, none of whose processes can have more than ``memory`` bytes."""

    memory = 2 << 30  # as the shared service has

    def backend(self, key: str = "") -> Backend:
        """A client with the key, or with the one that the first start printed (sandbox, enterprise plan)."""
        return Backend(self.base_url, key or self.key)

    def called(self, name: str) -> set[int]:
        """Return the ids of its processes of that name, ``paraph-web`` or ``paraph-worker``."""
        return {pid for pid in self.processes() if Path(f"/proc/{pid}/comm").read_text().strip() == name}

    def readers(self, parents: Iterable[int] = ()) -> list[int]:
        """Return the processes that read PDFs for it, or for ``parents`` only; they know nothing of its folder."""
        found = []
        for parent in parents or self.processes():
            with suppress(OSError):  # the process may be gone at any moment
                for path in Path(f"/proc/{parent}/task").glob("*/children"):
                    found += [int(child) for child in path.read_text().split() if _reads(child)]
        return found


@pytest.fixture(scope="session")
def target(shared_service: Service) -> Target:
    """Return the shared target, for all files that leave it as it was. It has the default settings, but high limits for
    calls and for messages to one recipient."""
    return Target.like(shared_service)


@pytest.fixture(scope="module")
def new_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Target]]:
    """Yield a function that starts targets with settings of their own, which end after the tests of the file."""
    made: list[Target] = []

    def make(data_dir: Path | None = None, **settings: str) -> Target:
        few = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_WORKER_PROCESSES": "1", "PARAPH_RATE_LIMIT_FACTOR": "100"}
        made.append(Target(data_dir or tmp_path_factory.mktemp("attacked") / "data", **{**few, **settings}))
        made[-1].begin()
        return made[-1]

    yield make
    for target in made:
        if target.process and target.process.poll() is None:
            target.stop()
        remove(target.data_dir)
