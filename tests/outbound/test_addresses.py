"""Addresses that clients may give, of which those of the public internet alone are called."""

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
def test_an_address_beyond_the_public_internet_is_refused(address: str, reason: str) -> None:
    assert reason_not_public(address) == reason


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a01:e0a::1"]
)
def test_an_address_of_the_public_internet(address: str) -> None:
    assert reason_not_public(address) == ""
