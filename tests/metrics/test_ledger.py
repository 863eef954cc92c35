"""Numbers kept in a file: read while they are written, and refused by a full disk without harm."""

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraph.metrics import metrics
from paraph.metrics.ledger import Ledger, read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics" / "1.metrics"


@pytest.fixture
def no_more(path: Path) -> Iterator[None]:
    """The disk takes what the file already has, and 30 bytes more."""
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


def test_a_folder_that_cannot_be_written_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_bytes(b"a file")
    Ledger(tmp_path / "metrics" / "1.metrics").add("a", {0: 1.0}, 1)


def test_no_page_of_the_file_is_mapped(path: Path) -> None:
    """Writing to a mapped page that the disk has no room for ends the process."""
    Ledger(path).add("a", {0: 1.0}, 1)
    assert str(path) not in Path(f"/proc/{os.getpid()}/maps").read_text()


def total(name: str, **labels: str) -> float:
    samples = [sample for metric in metrics.summed() for sample in metric.samples]
    return sum(sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items())


def _count(times: int) -> None:
    for _ in range(times):
        metrics.count_request("GET", "in a child", 200, 0.01)
    os.kill(os.getpid(), signal.SIGKILL)  # no farewell


def test_forked_processes_that_are_killed_are_counted() -> None:
    metrics.count_request("GET", "in a child", 200, 0.01)
    children = [multiprocessing.get_context("fork").Process(target=_count, args=(10,)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert total("paraph_requests_total", route="in a child", status="200") == 31
    assert total("paraph_request_seconds_count", route="in a child") == 31


def test_any_word_of_a_client_is_one_method() -> None:
    for word in ("BREW", "x" * 5000, None):
        metrics.count_request(word, "tea", 405, 0.01)
    assert total("paraph_requests_total", route="tea", method="other") == 3


def test_requests_are_counted_by_status_and_timed_whatever_it_was() -> None:
    for status, seconds in ((200, 0.01), (200, 0.02), (404, 0.03)):
        metrics.count_request("GET", "two statuses", status, seconds)
    assert total("paraph_requests_total", route="two statuses", status="200") == 2
    assert total("paraph_requests_total", route="two statuses", status="404") == 1
    assert total("paraph_request_seconds_count", route="two statuses") == 3
    assert total("paraph_request_seconds_sum", route="two statuses") == pytest.approx(0.06)
    assert total("paraph_request_seconds_bucket", route="two statuses", le="0.025") == 2


def test_a_stage_that_fails_is_measured_too() -> None:
    before = total("paraph_stage_seconds_sum", stage="seal")
    with pytest.raises(ZeroDivisionError), metrics.stage("seal"):
        time.sleep(0.02)
        _ = 1 / 0
    assert total("paraph_stage_seconds_sum", stage="seal") - before >= 0.02
