"""Prometheus counters and histograms, summed over all processes of the service."""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from paraph.measures import ledger_files

_instruments: list["Counter | Histogram"] = []


class Counter:
    """A number that only grows, for each combination of labels. Each name is used once."""

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self._text, self._labels = text, labels
        _instruments.append(self)

    def inc(self, *labels: str, by: float = 1) -> None:
        ledger_files.ledger().add(_key(self.name, labels), {0: by}, 1)

    def family(self, sums: Iterable[tuple[list[str], list[float]]]) -> Metric:
        family = CounterMetricFamily(self.name, self._text, labels=self._labels)
        for labels, [value] in sums or ([] if self._labels else [([], [0.0])]):
            family.add_metric(labels, value)
        return family


class Histogram:
    """Counts of values by bucket, and their sum. ``buckets``: upper bounds in ascending order."""

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self.name = name
        self._text, self._labels, self._buckets = text, labels, buckets
        self._width = len(buckets) + 2  # one more bucket above all bounds, and the sum
        _instruments.append(self)

    def observe(self, value: float, *labels: str) -> None:
        bucket, total = bisect_left(self._buckets, value), self._width - 1
        ledger_files.ledger().add(_key(self.name, labels), {bucket: 1, total: value}, self._width)

    def family(self, sums: Iterable[tuple[list[str], list[float]]]) -> Metric:
        family = HistogramMetricFamily(self.name, self._text, labels=self._labels)
        for labels, numbers in sums:
            family.add_metric(labels, list(self._cumulated(numbers)), numbers[-1])
        return family

    def _cumulated(self, numbers: Sequence[float]) -> Iterator[tuple[str, float]]:
        count = 0.0
        for bucket, number in zip([*map(float, self._buckets), None], numbers[:-1], strict=True):
            count += number
            yield "+Inf" if bucket is None else str(bucket), count


def summed() -> Iterator[Metric]:
    """The metrics of all processes, including those that have ended."""
    sums: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for key, numbers in ledger_files.records():
        name, _, labels = key.partition(" ")
        before = sums[name].get(labels)
        if before and len(before) != len(numbers):  # written by another version of the service
            continue
        sums[name][labels] = [a + b for a, b in zip(before, numbers, strict=True)] if before else list(numbers)
    for instrument in _instruments:
        yield instrument.family([(json.loads(labels), numbers) for labels, numbers in sums[instrument.name].items()])


@cache
def _key(name: str, labels: tuple[str, ...]) -> str:
    return f"{name} {json.dumps(labels)}"
