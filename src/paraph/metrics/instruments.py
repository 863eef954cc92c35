"""Prometheus counters and histograms, summed over all processes of the service."""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, partial

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from paraph.metrics import ledger

_Sums = Sequence[tuple[list[str], list[float]]]  # labels and numbers
_instruments: list["Counter | Histogram"] = []


class Counter:
    """A number that only grows, for each combination of labels. Each name is used once."""

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.width = name, 1
        self._text, self._labels = text, labels
        _instruments.append(self)

    def inc(self, *labels: str, by: float = 1) -> None:
        ledger.ledger().add(_key(self.name, labels), {0: by}, self.width)

    def families(self, sums: _Sums) -> Iterator[Metric]:
        family = CounterMetricFamily(self.name, self._text, labels=self._labels)
        for labels, [value] in sums or ([] if self._labels else [([], [0.0])]):
            family.add_metric(labels, value)
        yield family


class Histogram:
    """Counts of values by bucket, and their sum. ``buckets``: upper bounds in ascending order."""

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self.name = name
        self._text, self._labels, self._buckets = text, labels, buckets
        self.width = len(buckets) + 2  # one more bucket above all bounds, and the sum
        _instruments.append(self)

    def observe(self, value: float, *labels: str) -> None:
        bucket, total = bisect_left(self._buckets, value), self.width - 1
        ledger.ledger().add(_key(self.name, labels), {bucket: 1, total: value}, self.width)

    def families(self, sums: _Sums) -> Iterator[Metric]:
        family = HistogramMetricFamily(self.name, self._text, labels=self._labels)
        for labels, numbers in sums:
            family.add_metric(labels, list(self._cumulated(numbers)), numbers[-1])
        yield family

    def _cumulated(self, numbers: Sequence[float]) -> Iterator[tuple[str, float]]:
        count = 0.0
        for bucket, number in zip([*map(float, self._buckets), None], numbers[:-1], strict=True):
            count += number
            yield "+Inf" if bucket is None else str(bucket), count


class CountingHistogram(Histogram):
    """A histogram, and a counter (its name and text) that has one label more, the last: one addition to the ledger
    serves both."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float], *, counter: tuple[str, str]
    ) -> None:
        super().__init__(name, text, labels[:-1], buckets)
        self._counter = partial(CounterMetricFamily, *counter, labels=labels)

    def families(self, sums: _Sums) -> Iterator[Metric]:
        counts, seconds = self._counter(), dict[tuple[str, ...], list[float]]()
        for labels, numbers in sums:
            counts.add_metric(labels, sum(numbers[:-1]))
            fewer = tuple(labels[:-1])
            seconds[fewer] = _added(seconds[fewer], numbers) if fewer in seconds else numbers
        yield counts
        yield from super().families([(list(labels), numbers) for labels, numbers in seconds.items()])


def summed() -> Iterator[Metric]:
    """Yield the metrics of all processes, including those that have ended."""
    sums: dict[tuple[str, int], list[tuple[list[str], list[float]]]] = defaultdict(list)
    for (key, width), numbers in ledger.sums().items():
        name, _, labels = key.partition(" ")
        sums[name, width].append((json.loads(labels), numbers))
    for instrument in _instruments:
        yield from instrument.families(sums[instrument.name, instrument.width])


def _added(some: Sequence[float], others: Sequence[float]) -> list[float]:
    return [a + b for a, b in zip(some, others, strict=True)]


@cache
def _key(name: str, labels: tuple[str, ...]) -> str:
    return f"{name} {json.dumps(labels)}"
