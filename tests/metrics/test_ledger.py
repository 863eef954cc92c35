"""Numbers kept in a file: read while they are written, refused by a full disk without harm, and taken over from
processes that have ended, whichever process is killed meanwhile."""

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paraph.metrics import metrics
from paraph.metrics.metrics import Ledger, read
from tests.cli.service import wait_until

fork = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics" / "1.metrics"


@pytest.fixture
def no_more(path: Path) -> Iterator[None]:
    """Have the disk take no more than 30 bytes beyond the present size of the file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((path.stat().st_size if path.exists() else 0) + 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def records(path: Path) -> list[tuple[str, list[float]]]:
    return [(key, numbers) for (key, _), _, numbers in read(path)]


def test_numbers_are_read_by_their_keys(path: Path) -> None:
    ledger = Ledger(path)
    for key, amounts in (("a", {0: 1.0}), ("ünïcode []", {2: 0.5}), ("a", {0: 2.0, 1: 7.0})):
        ledger.add(key, amounts, 3)
    assert records(path) == [("a", [3.0, 7.0, 0.0]), ("ünïcode []", [0.0, 0.0, 0.5])]
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_a_full_disk_delays_what_it_refuses(path: Path, request: pytest.FixtureRequest) -> None:
    ledger = Ledger(path)
    ledger.add("before", {0: 1.0}, 14)
    request.getfixturevalue("no_more")
    ledger.add("before", {0: 1.0}, 14)
    ledger.add("refused", {0: 1.0}, 14)
    ledger.add("refused", {0: 1.0}, 14)
    assert [(key, numbers[0]) for key, numbers in records(path)] == [("before", 2.0)]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    ledger.add("another", {0: 1.0}, 1)
    ledger.add("refused", {0: 1.0}, 14)
    firsts = [(key, numbers[0]) for key, numbers in records(path)]
    assert firsts == [("before", 2.0), ("another", 1.0), ("refused", 3.0)]


def test_a_disk_that_takes_nothing_breaks_nothing(tmp_path: Path, path: Path) -> None:
    """The file is not mapped into memory: writing to a page that the disk has no room for would end the process."""
    Ledger(path).add("a", {0: 1.0}, 1)
    assert str(path) not in Path(f"/proc/{os.getpid()}/maps").read_text()
    (tmp_path / "file").write_bytes(b"a file")
    Ledger(tmp_path / "file" / "1.metrics").add("a", {0: 1.0}, 1)


def total(name: str, **labels: str) -> float:
    samples = [sample for metric in metrics.summed() for sample in metric.samples]
    return sum(sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items())


def test_requests_are_counted_by_status_and_timed_whatever_it_was() -> None:
    for status, seconds in ((200, 0.01), (200, 0.02), (404, 0.03)):
        metrics.count_request("GET", "two statuses", status, seconds)
    assert total("paraph_requests_total", route="two statuses", status="200") == 2
    assert total("paraph_requests_total", route="two statuses", status="404") == 1
    assert total("paraph_request_seconds_count", route="two statuses") == 3
    assert total("paraph_request_seconds_sum", route="two statuses") == pytest.approx(0.06)
    assert total("paraph_request_seconds_bucket", route="two statuses", le="0.025") == 2
    for word in ("BREW", "x" * 5000, None):
        metrics.count_request(word, "tea", 405, 0.01)
    assert total("paraph_requests_total", route="tea", method="other") == 3


def test_a_stage_that_fails_is_measured_too() -> None:
    before = total("paraph_stage_seconds_sum", stage="seal")
    with pytest.raises(ZeroDivisionError), metrics.stage("seal"):
        time.sleep(0.02)
        _ = 1 / 0
    assert total("paraph_stage_seconds_sum", stage="seal") - before >= 0.02


LIVES = 5


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """The folder of the ledgers of a new service, in which this process has not counted yet."""
    settings.DATA_DIR = tmp_path
    before, metrics._ledgers[:] = list(metrics._ledgers), []
    yield tmp_path / "metrics"
    for each in metrics._ledgers:
        each.close()
    metrics._ledgers[:] = before


def in_a_process(run: Callable[[], object]) -> int:
    """Call ``run`` in a new process, which is killed at the end. Return the exit code."""

    def run_and_die() -> None:
        run()
        os.kill(os.getpid(), signal.SIGKILL)

    child = fork.Process(target=run_and_die)
    child.start()
    child.join()  # with a timeout, join would also wait for the children of the child
    assert child.exitcode is not None
    return child.exitcode


def answered() -> float:
    return total("paraph_requests_total")


def answer() -> None:
    metrics.count_request("GET", "a/page", 200, 0.01)


def test_that_of_an_ended_process_is_taken_over_and_nothing_is_lost(folder: Path) -> None:
    assert metrics.sums() == {} and metrics.process_ids() == []
    for life in range(1, LIVES + 1):
        assert in_a_process(answer) == -signal.SIGKILL
        assert answered() == life
        assert len(list(folder.glob("*-*.metrics"))) == 1  # one file is left: each process takes over the file before
    answer()
    assert answered() == LIVES + 1
    assert [file.name for file in folder.glob("*-*.metrics")] == [metrics._ledgers[0]._path.name]
    for _ in range(LIVES):
        in_a_process(answer)  # the file of this process, which lives, is left alone
    answer()
    assert answered() == 2 * LIVES + 2
    assert len(list(folder.glob("*-*.metrics"))) == 2 and metrics._ledgers[0]._path.exists()


def test_a_child_that_lives_on_does_not_keep_its_parents_alive(folder: Path) -> None:
    """A forked child shares the open files of its parent, and their locks, unless it closes them."""
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
    """Have the process die after it has done ``act`` to ``after`` files."""
    real = getattr(Path, act)
    done: list[Path] = []

    def killing(path: Path, *arguments: Any, **options: Any) -> Any:
        if len(done) == after:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, act, killing)


def ended_at_once(folder: Path) -> set[str]:
    """Have ``LIVES`` processes count and be killed together. Return the names of the files that they leave."""
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
    return {file.name for file in folder.glob("*-*.metrics")}


@pytest.mark.parametrize(("act", "after"), [("read_bytes", 0), ("rename", 0), ("rename", 1)])
def test_whoever_takes_over_may_be_killed(folder: Path, monkeypatch: pytest.MonkeyPatch, act: str, after: int) -> None:
    def count_and_take_another() -> None:
        answer()
        metrics._ledgers.clear()  # the lock on its file stays, so another file is taken over
        answer()

    assert len(ended_at_once(folder)) == LIVES
    with monkeypatch.context() as dying:
        kill_at(dying, act, after)
        assert in_a_process(count_and_take_another) == -signal.SIGKILL
    assert answered() == LIVES + after
    assert in_a_process(count_and_take_another) == -signal.SIGKILL
    assert answered() == LIVES + after + 2
    assert len(list(folder.glob("*-*.metrics"))) == LIVES


def test_there_are_no_more_than_processes_at_once(folder: Path) -> None:
    before = ended_at_once(folder)
    living = [Ledger(folder / f"{number}-new.metrics") for number in range(LIVES)]
    for each in living:
        each.add('paraph_requests ["GET", "a/page", "200"]', {0: 1.0}, 1)
    names = {file.name for file in folder.glob("*-*.metrics")}
    assert len(names) == LIVES and not names & before
    assert answered() == 2 * LIVES
    for each in living:
        each.close()


@pytest.mark.parametrize("what", [b"", b"\1\0\0\0", b"\1" * 100])
def test_a_record_that_was_not_written_whole_is_written_over(folder: Path, what: bytes) -> None:
    in_a_process(answer)
    [file] = folder.glob("*-*.metrics")
    with file.open("ab") as opened:
        opened.write(what)
    in_a_process(lambda: metrics.count_request("GET", "another/page", 200, 0.01))
    answer()
    assert answered() == 3


def test_what_cannot_be_taken_over_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_process(answer)

    def refused(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", refused)
    answer()
    assert answered() == 2
    assert len(list(folder.glob("*-*.metrics"))) == 2


def test_numbers_of_another_version_are_kept_for_it(folder: Path) -> None:
    """Numbers of a version with more buckets stay apart, so that they are not added to those of other buckets."""
    in_a_process(lambda: metrics.ledger().add('paraph_requests ["x"]', {0: 7.0}, 3))
    in_a_process(lambda: metrics.ledger().add("paraph_signers_locked []", {0: 7.0}, 2))
    for _ in range(LIVES):
        in_a_process(metrics.locks.inc)
    metrics.locks.inc()
    found = metrics.sums()
    assert found["paraph_signers_locked []", 1] == [LIVES + 1] and found["paraph_signers_locked []", 2] == [7.0, 0.0]
    [told] = [metric for metric in metrics.summed() if metric.name == "paraph_signers_locked"]
    assert [sample.value for sample in told.samples] == [LIVES + 1]
