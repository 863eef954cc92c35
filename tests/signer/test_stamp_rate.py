"""Previews of the stamp, and how many of them a signer gets."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import rates
from paraph.kernel.rates import MinuteRate
from paraph.pdf.typesetting.appearances import InitialsContent, initials_svg
from paraph.signer import stamp_rate
from tests.factories import TYPED, Scene, scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamp_rate, "_rate", MinuteRate(3))
    monkeypatch.setattr(rates, "time", SimpleNamespace(monotonic=lambda: 120.5))


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
    monkeypatch.setattr(rates, "time", SimpleNamespace(monotonic=lambda: 180.0))
    assert drawn(client, made).status_code == 200


def test_typed_initials_are_shown_as_they_stand_on_pages_where_they_are_wanted(client: Client) -> None:
    made = scene(initials_required=True)
    assert f'src="{made.url(rest="/initials.svg")}"' in client.get(made.url()).content.decode()
    shown = client.get(made.url(rest="/initials.svg"))
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/svg+xml")
    content = InitialsContent(made.signers[0].full_name)
    assert shown.content == initials_svg(content) and b"<use " in shown.content
    assert client.get(made.url(rest="/initials.svg")).status_code == 200
    assert client.get(made.url(rest="/initials.svg")).status_code == 200
    assert client.get(made.url(rest="/initials.svg")).status_code == 429, "it counts as a stamp"
    without = scene()
    assert client.get(without.url(rest="/initials.svg")).status_code == 404
    posted = client.post(made.url(rest="/initials.svg"))
    assert (posted.status_code, posted["Allow"], posted.json()["error"]["code"]) == (405, "GET", "method_not_allowed")
