"""Large JSON is read by one thread at a time; small JSON does not wait for it."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from paraph.kernel import bounded_json

LARGE = json.dumps(["x"] * 50_000).encode()
SMALL = b"[1]"


class Reading:
    """A replacement for ``json.loads``: counts the threads in it, and stays in large JSON until ``go_on``."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.began, self.go_on = threading.Event(), threading.Event()

    def loads(self, text: str, **options: Any) -> Any:
        if len(text) < len(LARGE):
            return json.JSONDecoder(**options).decode(text)
        self.now += 1
        self.most = max(self.most, self.now)
        self.began.set()
        assert self.go_on.wait(60)
        self.now -= 1
        return []


def test_large_json_is_read_in_turn_and_small_json_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading()
    monkeypatch.setattr("paraph.kernel.bounded_json.json.loads", reading.loads)
    with ThreadPoolExecutor(4) as threads:
        large = [threads.submit(bounded_json.loads, LARGE, 10) for _ in range(4)]
        assert reading.began.wait(60)
        assert bounded_json.loads(SMALL, 10) == [1]
        reading.go_on.set()
        assert [each.result() for each in large] == [[]] * 4
    assert reading.most == 1


def test_who_fails_lets_the_next_one_in() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="Expecting value"):
            bounded_json.loads(b"[" + b" " * len(LARGE), 10)
    assert bounded_json.loads(LARGE, 10) == ["x"] * 50_000


def test_too_many_parts_are_refused_without_a_turn() -> None:
    with bounded_json._turn, pytest.raises(bounded_json.TooManyError):
        bounded_json.loads(b"[" * len(LARGE), 10)


def test_commas_are_counted_where_somebody_says_how_many_there_may_be() -> None:
    assert bounded_json.loads(b"[1,2,3]", 10, comma_limit=2) == [1, 2, 3]
    with bounded_json._turn, pytest.raises(bounded_json.TooManyError):
        bounded_json.loads(LARGE, 10, comma_limit=2)


@pytest.mark.parametrize("opened", ["[", '{"a":'])
@pytest.mark.parametrize("padding", [0, 100_000])
def test_nesting_is_bounded_whatever_is_nested(opened: str, padding: int) -> None:
    def nested(levels: int) -> bytes:
        return (opened * levels + "1" + ("]" if opened == "[" else "}") * levels + " " * padding).encode()

    assert bounded_json.loads(nested(bounded_json.DEEPEST), 1_000_000)
    for levels in (bounded_json.DEEPEST + 1, 480, 800, 100_000):
        with pytest.raises(bounded_json.TooDeepError):
            bounded_json.loads(nested(levels), 1_000_000)
    wide: list[object] = [[[]] * 100] * 100
    assert bounded_json.loads(json.dumps(wide).encode(), 1_000_000) == wide
