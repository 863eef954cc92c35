"""Previews of the stamp, and how many of them a signer gets."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import minute_rate
from paraph.kernel.minute_rate import MinuteRate
from paraph.signer import stamp_rate
from tests.factories import TYPED, Scene, scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamp_rate, "_rate", MinuteRate(3))
    monkeypatch.setattr(minute_rate, "time", SimpleNamespace(monotonic=lambda: 120.5))


def drawn(client: Client, made: Scene, position: int = 0) -> Any:
    return client.post(made.url(position, "/stamp"), {"signature": TYPED}, content_type="application/json")


def test_beyond_the_limit_none_is_drawn_until_the_next_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene(signers=2)
    assert [drawn(client, made).status_code for _ in range(2)] == [200, 200]
    assert client.get(made.url(rest="/stamp.svg")).status_code == 200
    for refused in (drawn(client, made), client.get(made.url(rest="/stamp.svg?hand=2"))):
        assert (refused.status_code, refused["Retry-After"]) == (429, "60")
        assert refused.json()["error"]["code"] == "rate_limited"
    assert drawn(client, made, 1).status_code == 200
    monkeypatch.setattr(minute_rate, "time", SimpleNamespace(monotonic=lambda: 180.0))
    assert drawn(client, made).status_code == 200
