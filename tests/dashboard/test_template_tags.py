"""What templates of the dashboard say of browsers, of addresses and of mails."""

from collections.abc import Callable
from typing import Any

import pytest

from paraph.dashboard.templatetags.dashboard import browser_name, mail_address
from tests.dashboard.conftest import MemberClient

_MOZILLA = "Mozilla/5.0"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"{_MOZILLA} (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox, Linux"),
        (f"{_MOZILLA} (Windows NT 10.0) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0", "Edge, Windows"),
        (f"{_MOZILLA} (Linux; Android 15) AppleWebKit/537.36 Chrome/141.0 Mobile Safari/537.36", "Chrome, Android"),
        (f"{_MOZILLA} (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/18.6 Safari/604.1", "Safari, iPhone"),
        (f"{_MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) Version/18.6 Safari/605.1.15", "Safari, macOS"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
    ],
)
def test_a_browser_has_the_name_that_people_know(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name


def test_long_addresses_break_after_their_at_sign() -> None:
    assert mail_address("owner@lighthouse.example") == "owner@<wbr>lighthouse.example"
    assert mail_address("ada@example.com") == "ada@example.com"
    assert mail_address("<b>@lighthouse-keepers.example") == "&lt;b&gt;@<wbr>lighthouse-keepers.example"


@pytest.mark.parametrize("gateway", [{"smtp_url": "smtp://localhost"}, {"mail_provider": "mailgun"}])
def test_members_read_that_mails_reach_nobody_until_something_sends_them(
    log_in: Callable[..., MemberClient], settings: Any, gateway: dict[str, str]
) -> None:
    member, client = log_in()
    pages = [client.get(f"/app/{member.organization_id}/members").content.decode()]
    settings.PARAPH = settings.PARAPH.model_copy(update=gateway)
    pages += [client.get(f"/app/{member.organization_id}/members").content.decode()]
    assert ["paraph inbox" in page for page in pages] == [True, False]
