"""The ledgers of processes that have ended: summed up once, whoever is killed meanwhile, and removed."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paraph.metrics import instruments, ledger, metrics
from tests.cli.service import wait_until

fork = multiprocessing.get_context("fork")
LIVES = 5


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """That of a service of its own, in which this process has not counted yet."""
    settings.DATA_DIR = tmp_path
    before, ledger._ledgers[:] = list(ledger._ledgers), []
    yield tmp_path / "metrics"
    for each in ledger._ledgers:
        each.close()
    ledger._ledgers[:] = before


def in_a_process(run: Callable[[], object]) -> int:
    """Runs it in one of its own, which is killed at the end, and returns how that ended."""

    def run_and_die() -> None:
        run()
        os.kill(os.getpid(), signal.SIGKILL)

    child = fork.Process(target=run_and_die)
    child.start()
    child.join()  # with a time limit it would wait for the children of the child, too
    assert child.exitcode is not None
    return child.exitcode


def answered() -> float:
    samples = [sample for metric in instruments.summed() for sample in metric.samples]
    return sum(sample.value for sample in samples if sample.name == "paraph_requests_total")


def answer() -> None:
    metrics.count_request("GET", "a/page", 200, 0.01)


def test_those_of_ended_processes_become_one_and_nothing_is_lost(folder: Path) -> None:
    for life in range(1, LIVES + 1):
        assert in_a_process(answer) == -signal.SIGKILL
        assert answered() == life
        assert len(list(folder.glob("*-*.metrics"))) == 1  # that of the last one: each takes over the one before
    answer()
    assert answered() == LIVES + 1
    assert [file.name for file in folder.glob("*-*.metrics")] == [ledger._ledgers[0]._path.name]
    assert (folder / "ended.metrics").is_file()


def test_that_of_a_living_process_is_left_alone(folder: Path) -> None:
    answer()
    for _ in range(LIVES):
        in_a_process(ledger.sum_up_ended)
        in_a_process(answer)
    answer()
    assert answered() == LIVES + 2
    assert ledger._ledgers[0]._path.exists()


def test_a_child_that_lives_on_does_not_keep_its_parents_alive(folder: Path) -> None:
    """A fork has the files of its parent, and the locks on them, unless it lets go."""
    goes_on, go_on = fork.Event(), fork.Event()

    def parent() -> None:
        answer()
        if not os.fork():
            goes_on.set()
            go_on.wait(60)
            os._exit(0)
        goes_on.wait(60)

    try:
        in_a_process(parent)
        answer()
        assert len(list(folder.glob("*-*.metrics"))) == 1
        assert answered() == 2
    finally:
        go_on.set()


def kill_at(monkeypatch: pytest.MonkeyPatch, act: str, after: int) -> None:
    """The process dies once it has done that to so many files."""
    real = getattr(Path, act)
    done: list[Path] = []

    def killing(path: Path, *arguments: Any, **options: Any) -> Any:
        if len(done) == after:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, act, killing)


@pytest.mark.parametrize(
    ("act", "after"), [("write_bytes", 0), ("replace", 0), *(("unlink", after) for after in range(LIVES))]
)
def test_whoever_sums_up_may_be_killed(folder: Path, monkeypatch: pytest.MonkeyPatch, act: str, after: int) -> None:
    goes_on = fork.Event()

    def live() -> None:
        answer()
        goes_on.wait(60)

    living = [fork.Process(target=live) for _ in range(LIVES)]
    for each in living:
        each.start()
    wait_until(lambda: answered() == LIVES)
    for each in living:
        each.kill()
        each.join(60)
    with monkeypatch.context() as dying:
        kill_at(dying, act, after)
        assert in_a_process(ledger.sum_up_ended) == -signal.SIGKILL
    assert answered() == LIVES
    assert in_a_process(ledger.sum_up_ended) == -signal.SIGKILL
    assert answered() == LIVES
    assert list(folder.glob("*-*.metrics")) == []


def test_a_full_disk_leaves_them_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_process(answer)

    def refused(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refused)
    answer()
    assert answered() == 2


def test_numbers_of_another_version_are_kept_for_it(folder: Path) -> None:
    """Where it counts into more buckets, its numbers stay apart, so that none is added to another's."""
    in_a_process(lambda: ledger.ledger().add('paraph_requests ["x"]', {0: 7.0}, 3))
    in_a_process(lambda: ledger.ledger().add("paraph_signers_locked []", {0: 7.0}, 2))
    for _ in range(LIVES):
        in_a_process(metrics.count_lock)
    metrics.count_lock()
    found = ledger.sums()
    assert found["paraph_signers_locked []", 1] == [LIVES + 1] and found["paraph_signers_locked []", 2] == [7.0, 0.0]
    [told] = [metric for metric in instruments.summed() if metric.name == "paraph_signers_locked"]
    assert [sample.value for sample in told.samples] == [LIVES + 1]


def test_where_nobody_has_counted_there_is_nothing(folder: Path) -> None:
    assert ledger.sums() == {} and ledger.process_ids() == []
