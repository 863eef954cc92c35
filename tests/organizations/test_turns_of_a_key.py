"""Calls of a busy key wait for each other here, and not for the counter's row in the database."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from paraph.kernel import clock
from paraph.organizations import admission
from tests.cli.service import wait_until

KEY = "ab" * 32
SECONDS = 0.02  # that the statement takes
ROW = [
    b"\\x" + admission.key_hash(KEY).hex().encode(),
    b"1",
    b"sandbox",
    b"pro",
    b"1",
    b"f",
    b"1",
    b"1",
    b"1",
    b"1",
    b"",
    b"",
]


class Database:
    """Answers every statement with the same row, once it ``may``. ``most``: how many it was asked at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.may = threading.Event()
        self.may.set()

    def __call__(self, _statement: str, _values: list[bytes]) -> list[bytes]:
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(SECONDS)
        assert self.may.wait(60)
        self.now -= 1
        return ROW


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    made = Database()
    monkeypatch.setattr(admission, "one_row", made)
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 3, 1, tzinfo=UTC))  # all within one second
    assert admission.admit(KEY)
    return made


def test_they_ask_one_after_the_other(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_TURN_SECONDS", 60)
    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(lambda _: admission.admit(KEY), range(6)))
    assert database.most == 1


def test_nobody_waits_for_long(database: Database) -> None:
    """A connection that is lost may keep one for seconds."""
    database.may.clear()
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(admission.admit, KEY) for _ in range(3)]
        wait_until(lambda: database.most == 3)
        database.may.set()
        assert all(each.result() for each in asked)
