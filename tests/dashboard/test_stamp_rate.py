"""How many pictures of stamps a member may have drawn."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from paraph.dashboard import decorators
from paraph.kernel import minute_rate
from paraph.kernel.minute_rate import MinuteRate
from paraph.tenants.models import Organization
from tests.dashboard.conftest import MemberClient
from tests.dashboard.test_drafts import ready

LogIn = Callable[..., MemberClient]


def test_pictures_of_stamps_are_drawn_so_many_a_minute(
    log_in: LogIn, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decorators, "_stamp_rate", MinuteRate(2))
    monkeypatch.setattr(minute_rate, "time", SimpleNamespace(monotonic=lambda: 120.5))
    _, client = log_in()
    address, draft = ready(client, organization)
    picture = f"{address}/signers/{draft.signers[0].ref}/stamp-200x80.svg"
    sample = f"/app/{organization.pk}/branding/preview/stamp.svg"
    answers = [client.get(each) for each in (picture, sample, picture, sample)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert answers[-1].headers["Retry-After"] == "60"
    assert log_in()[1].get(picture).status_code == 200
