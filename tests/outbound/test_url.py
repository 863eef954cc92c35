"""Addresses that clients may give."""

import pytest

from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url, origin_of


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
