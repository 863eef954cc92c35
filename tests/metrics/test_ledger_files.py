"""Figures of several processes are one sum, and outlive the process that counted."""

import multiprocessing
import os
import signal
import time

import pytest

from paraph.metrics import instruments, metrics


def total(name: str, **labels: str) -> float:
    samples = [sample for metric in instruments.summed() for sample in metric.samples]
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
