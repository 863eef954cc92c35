"""Where a call comes from: the peer, unless the peer is a proxy that the operator trusts."""

from typing import Any

import pytest
from django.test import RequestFactory

from paraph.kernel.settings import read_settings
from paraph.server.client_address import client_address, guarded_network


@pytest.mark.parametrize(
    ("trusted", "forwarded", "expected"),
    [
        ("", "1.2.3.4", "10.0.0.1"),
        ("10.0.0.0/8", "", "10.0.0.1"),
        ("10.0.0.0/8", "1.2.3.4", "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9, 1.2.3.4", "1.2.3.4"),  # what a client writes itself stands further left
        ("10.0.0.0/8", "9.9.9.9, 1.2.3.4, 10.0.0.7", "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9, rubbish", "10.0.0.1"),
        ("10.0.0.0/8", "::ffff:1.2.3.4", "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9, 1.2.3.4:5678", "1.2.3.4"),  # some proxies write the port as well
        ("10.0.0.0/8", "[2001:db8::5]:443", "2001:db8::5"),
        ("10.0.0.0/8", "[2001:db8::5]", "2001:db8::5"),
        ("10.0.0.0/8", "1.2.3.4:port", "10.0.0.1"),
        ("192.168.0.1", "1.2.3.4", "10.0.0.1"),
    ],
)
def test_forwarded_addresses(
    settings: Any, monkeypatch: pytest.MonkeyPatch, trusted: str, forwarded: str, expected: str
) -> None:
    monkeypatch.setenv("PARAPH_TRUSTED_PROXIES", trusted)
    settings.PARAPH = read_settings()
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers=headers)) == expected


def test_a_server_that_does_not_say_gives_nothing() -> None:
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="")) == ""


def test_the_guard_counts_an_ipv6_network() -> None:
    assert guarded_network("2001:db8:1:2:3::4") == "2001:db8:1:2::/64"
    assert guarded_network("1.2.3.4") == "1.2.3.4"
