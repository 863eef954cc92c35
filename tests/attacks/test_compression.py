"""Compressed answers: what is compressed, what never is, and nothing but static files under ``/static/``."""

import gzip
import http.client
import re
from typing import Any

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.attacks.files import new_request
from tests.factories import pdf
from tests.scenarios.people import code_for, signer

SECRET = "Dienstgeheimnis"


@pytest.fixture(scope="module")
def made(target: Target) -> dict[str, Any]:
    backend = target.backend()
    document = backend.upload(pdf(), name=f"{SECRET}.pdf")
    return new_request(backend, signer("ada"), signer("bob"), document=document)


def test_pages_are_compressed_and_their_length_says_little(made: dict[str, Any]) -> None:
    """The length of one and the same page differs from answer to answer by up to 100 bytes (BREACH)."""
    url = made["signers"][0]["signing_url"]
    answers = [raw(url) for _ in range(12)]
    assert all(
        headers["Content-Encoding"] == "gzip" and headers["Cache-Control"] == "no-store" for headers, _ in answers
    )
    assert all(SECRET in gzip.decompress(body).decode() for _, body in answers)
    assert len({len(body) for _, body in answers}) > 6
    assert "content-encoding" not in httpx.get(url, headers={"Accept-Encoding": "identity"}).headers


def test_a_compressed_refusal_of_a_large_form_tells_its_length_once(target: Target, made: dict[str, Any]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=30)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "gzip"}
    path = made["signers"][0]["signing_url"].removeprefix(target.base_url)
    connection.request("POST", path, b"x=" + bytes(3 << 20), headers)
    answer = connection.getresponse()
    assert (answer.status, answer.headers.get_all("Content-Encoding")) == (413, ["gzip"])
    body = answer.read()
    assert answer.headers.get_all("Content-Length") == [str(len(body))] and gzip.decompress(body)
    connection.close()


def test_a_page_and_all_that_it_loads_is_small(target: Target, made: dict[str, Any]) -> None:
    headers, body = raw(made["signers"][0]["signing_url"])
    page = gzip.decompress(body).decode()
    loaded = sorted(set(re.findall(r'"(/static/[^"]+)"', page)))
    sizes = {}
    for address in loaded:
        assert re.search(r"\.[0-9a-f]{12}\.(css|js|svg)$", address)
        headers, content = raw(target.base_url + address)
        assert headers["Content-Encoding"] == "gzip" and "immutable" in headers["Cache-Control"]
        sizes[address] = len(content)
    assert len(sizes) == 4 and sum(sizes.values()) < 16 * 1024
    assert len(body) < 6 * 1024


def test_nothing_that_carries_a_one_time_secret_is_compressed(target: Target, made: dict[str, Any]) -> None:
    headers = {"Accept-Encoding": "gzip", "X-Api-Key": target.key}
    url = made["signers"][1]["signing_url"]
    answers = [
        httpx.post(f"{url}/otp", json={"channel": "email"}, headers=headers, timeout=30),
        httpx.post(f"{url}/signature", json={"code": code_for(url), "consent": True}, headers=headers, timeout=30),
        httpx.get(f"{url}/progress", headers=headers),
        httpx.get(f"{target.base_url}/api/v1/signature_requests/{made['id']}", headers=headers),
        httpx.get(f"{target.base_url}/api/v1/signature_requests", headers=headers),
        httpx.get(f"{target.base_url}/api/v1/openapi.json", headers=headers),
    ]
    assert [answer.status_code for answer in answers] == [200] * 6
    assert not any("content-encoding" in answer.headers for answer in answers)
    assert "X-Copy-Ticket" in answers[1].headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        "/static/../config/settings.py",
        "/static/%2e%2e/config/settings.py",
        "/static/signer/..%2f..%2f..%2fconfig%2fsettings.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/signer/signer.css%00.svg",
        "/static/" + "a/" * 4000,
        "/static/signer/templates/signer/page.html",
    ],
)
def test_no_other_file_is_served(target: Target, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.read()
    connection.request("GET", "/nothing-at-all")
    assert answer.status == 404 and found == connection.getresponse().read()
    connection.close()


def raw(url: str) -> tuple[httpx.Headers, bytes]:
    """Headers and the body as it came, of a client that takes gzip."""
    with httpx.stream("GET", url, headers={"Accept-Encoding": "gzip, deflate, br"}, timeout=30) as answer:
        assert answer.status_code == 200
        return answer.headers, b"".join(answer.iter_raw())
