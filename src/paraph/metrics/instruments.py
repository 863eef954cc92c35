"""Prometheus counters and histograms, summed over all processes of the service."""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate

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

    def family(self, sums: _Sums) -> Metric:
        family = CounterMetricFamily(self.name, self._text, labels=self._labels)
        for labels, [value] in sums or ([] if self._labels else [([], [0.0])]):
            family.add_metric(labels, value)
        return family


class Histogram:
    """Counts of values by bucket, and their sum. ``buckets``: upper bounds in ascending order."""

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self.name, self.width = name, len(buckets) + 2  # one more bucket above all bounds, and the sum
        self._text, self._labels, self._buckets = text, labels, buckets
        _instruments.append(self)

    def observe(self, value: float, *labels: str) -> None:
        bucket, total = bisect_left(self._buckets, value), self.width - 1
        ledger.ledger().add(_key(self.name, labels), {bucket: 1, total: value}, self.width)

    def family(self, sums: _Sums) -> Metric:
        family = HistogramMetricFamily(self.name, self._text, labels=self._labels)
        bounds = [*map(str, map(float, self._buckets)), "+Inf"]
        for labels, [*counts, total] in sums:
            family.add_metric(labels, list(zip(bounds, accumulate(counts), strict=True)), total)
        return family


def summed() -> Iterator[Metric]:
    """Yield the metrics of all processes, including those that have ended."""
    sums: dict[tuple[str, int], list[tuple[list[str], list[float]]]] = defaultdict(list)
    for (key, width), numbers in ledger.sums().items():
        name, _, labels = key.partition(" ")
        sums[name, width].append((json.loads(labels), numbers))
    for instrument in _instruments:
        yield instrument.family(sums[instrument.name, instrument.width])


@cache
def _key(name: str, labels: tuple[str, ...]) -> str:
    return f"{name} {json.dumps(labels)}"
