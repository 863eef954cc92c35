"""Only addresses of the public internet are called."""

import pytest

from paraph.outbound.public_address import reason_not_public


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "this network"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("169.254.169.254", "link-local"),
        ("100.64.0.1", "shared with a carrier"),
        ("100.100.100.200", "shared with a carrier"),
        ("168.63.129.16", "cloud metadata"),
        ("192.0.0.192", "reserved"),
        ("198.18.0.1", "benchmarking"),
        ("203.0.113.7", "documentation"),
        ("224.0.0.1", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::1", "not a global unicast address"),
        ("::", "not a global unicast address"),
        ("::ffff:127.0.0.1", "not a global unicast address"),
        ("::ffff:93.184.215.14", "not a global unicast address"),
        ("::127.0.0.1", "not a global unicast address"),
        ("64:ff9b::7f00:1", "not a global unicast address"),
        ("64:ff9b:1::7f00:1", "not a global unicast address"),
        ("fe80::1", "not a global unicast address"),
        ("fe80::1%eth0", "not a global unicast address"),
        ("fec0::1", "not a global unicast address"),
        ("fd00:ec2::254", "not a global unicast address"),
        ("ff02::1", "not a global unicast address"),
        ("100::1", "not a global unicast address"),
        ("2002:7f00:1::1", "6to4"),
        ("2001::1", "reserved or Teredo"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
    ],
)
def test_refused(address: str, reason: str) -> None:
    assert reason_not_public(address) == reason


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a01:e0a::1"]
)
def test_public(address: str) -> None:
    assert reason_not_public(address) == ""
