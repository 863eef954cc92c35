"""Of the addresses that clients give, only those of the public internet are called."""

import pytest

from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url, origin_of, reason_not_public


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://a.example/", "url must start with https:// or http://."),
        ("a.example", "url must start with https:// or http://."),
        ("https:///path", "url names no host."),
        (f"https://{'a.' * 127}example/", "url names no host."),
        ("https://user:secret@a.example/", "url must not contain a user name or password."),
        ("https://a.example:22/", "url names port 22; only 80, 443 and ports from 1024 are called."),
        ("https://a.example:0/", "url names port 0; only 80, 443 and ports from 1024 are called."),
        ("https://a.example:99999/", "url names port 99999; only 80, 443 and ports from 1024 are called."),
        ("https://[::1/", "url is not an address that can be read."),
        ("https://a%20b/", "url names no host."),
        ("https://a b/", "url contains white space or a backslash."),
        (" https://a.example/", "url contains white space or a backslash."),
        ("https://a.example\\@b.example/", "url contains white space or a backslash."),
        ("https://a.example/\n", "url contains white space or a backslash."),
        ("https://" + "a" * 2000, "url must have at most 2000 characters."),
    ],
)
def test_refused_with_a_sentence(url: str, sentence: str) -> None:
    with pytest.raises(DomainError) as refusal:
        check_url(url, name="url")
    assert (refusal.value.code, refusal.value.message) == ("validation_error", sentence)


def test_https_alone_where_the_specification_says_so() -> None:
    with pytest.raises(DomainError, match=r"callback_url must start with https://\."):
        check_url("http://a.example/", name="callback_url", schemes=["https"])


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.example/x?y#z", "https://a.example:443"),
        ("http://A.Example", "http://a.example:80"),
        ("https://a.example:8443/", "https://a.example:8443"),
        ("https://münchen.example/", "https://xn--mnchen-3ya.example:443"),
        ("https://[2a01:e0a::1]:1024/", "https://2a01:e0a::1:1024"),
        ("no address", "no address"),
    ],
)
def test_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin


REASONS = {
    "loopback": "127.0.0.1 127.255.255.254",
    "this network": "0.0.0.0",
    "private": "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1",
    "link-local": "169.254.169.254",
    "shared with a carrier": "100.64.0.1 100.100.100.200",
    "cloud metadata": "168.63.129.16",
    "reserved": "192.0.0.192 240.0.0.1 255.255.255.255",
    "benchmarking": "198.18.0.1",
    "documentation": "203.0.113.7 2001:db8::1 3fff::1",
    "multicast": "224.0.0.1",
    "not a global unicast address": "::1 :: ::ffff:127.0.0.1 ::ffff:93.184.215.14 ::127.0.0.1 64:ff9b::7f00:1 "
    "64:ff9b:1::7f00:1 fe80::1 fe80::1%eth0 fec0::1 fd00:ec2::254 ff02::1 100::1",
    "6to4": "2002:7f00:1::1",
    "reserved or Teredo": "2001::1",
    "": "93.184.215.14 8.8.8.8 172.15.0.1 172.32.0.1 100.128.0.1 2606:4700::1111 2a01:e0a::1",
}
"""Why an address is not one of the public internet; "": it is."""


@pytest.mark.parametrize("reason", REASONS)
def test_an_address_beyond_the_public_internet_is_refused(reason: str) -> None:
    for address in REASONS[reason].split():
        assert reason_not_public(address) == reason, address
