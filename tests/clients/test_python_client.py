"""The Python client: what it sends, how it reads, waits and refuses. The scenarios run it against the real service."""

import asyncio
import hashlib
import hmac
import time
from typing import Any

import httpx
import pytest

from paraph.api.v1.openapi import ANSWERS
from paraph_client import AsyncClient, Client, InvalidSignatureError, ParaphError, verify_webhook
from tests.clients.conftest import Answering

HEALTH = {"status": "ok", "environment": "sandbox", "version": "1", "time": "2026-01-02T03:04:05Z"}
DOCUMENT = {
    "id": 7,
    "content_type": "pdf",
    "sha256_hash": "ab",
    "file_size": 3,
    "status": "ready",
    "created_at": "2026-01-02T03:04:05Z",
    "a_field_of_tomorrow": True,
}


def _page(number: int, pages: int) -> dict[str, Any]:
    shape = {"page": number, "limit": 1, "count": pages, "pages": pages}
    return {"data": [DOCUMENT | {"id": number}], "pagination": shape}


def test_the_key_and_the_language_go_with_every_call(service: Answering) -> None:
    service.answers = [(200, HEALTH, {})]
    with Client(service.url, "k" * 64, language="fr") as client:
        assert client.health().environment == "sandbox"
    asked = service.asked[0]
    assert (asked.method, asked.path) == ("GET", "/api/v1/health")
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert headers["x-api-key"] == "k" * 64
    assert headers["accept-language"] == "fr"


def test_an_upload_is_multipart_with_the_pdf_type(service: Answering) -> None:
    service.answers = [(201, DOCUMENT | {"preflight": {"scripts": 1}}, {})]
    with Client(service.url, "k") as client:
        document = client.upload_document(b"%PDF", "lease.pdf")
    assert document.id == 7 and document.preflight and document.preflight["scripts"] == 1
    body = service.asked[0].body
    assert b'name="file"; filename="lease.pdf"' in body
    assert b"Content-Type: application/pdf" in body


def refusal(status: int, code: str, retry_after: str = "0") -> tuple[int, Any, dict[str, str]]:
    return status, {"error": {"code": code, "message": "Wait."}}, {"Retry-After": retry_after}


def test_a_429_waits_as_long_as_it_says_and_tries_again(service: Answering) -> None:
    """A service that says 503 because it is too busy is tried again as well."""
    service.answers = [refusal(429, "rate_limited", "1"), refusal(503, "unavailable"), (200, HEALTH, {})]
    with Client(service.url, "k") as client:
        began = time.monotonic()
        client.health()
        assert time.monotonic() - began >= 1
    assert len(service.asked) == 3


@pytest.mark.parametrize("status", [500, 502, 503, 504, 409])
def test_a_creation_is_sent_again_with_its_key(service: Answering, status: int) -> None:
    """The first call may have worked, which the service knows by the key."""
    busy = refusal(status, "idempotency_key_in_use" if status == 409 else "internal_error")
    service.answers = [busy, refusal(404, "not_found")] * 2
    with Client(service.url, "k") as client:
        for _ in range(2):
            with pytest.raises(ParaphError, match="not_found"):
                client.upload_document(b"%PDF")
    first, again, another, _ = [asked.headers["Idempotency-Key"] for asked in service.asked]
    assert first == again != another


@pytest.mark.parametrize(
    ("status", "code"), [(507, "insufficient_storage"), (409, "conflict"), (422, "validation_error")]
)
def test_what_would_fail_again_is_not_sent_again(service: Answering, status: int, code: str) -> None:
    service.answers = [refusal(status, code)]
    with Client(service.url, "k") as client, pytest.raises(ParaphError, match=code):
        client.upload_document(b"%PDF")
    assert len(service.asked) == 1


def test_a_lost_connection_is_tried_again_by_both_clients() -> None:
    asked: list[str] = []

    def lost(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["Idempotency-Key"])
        if len(asked) % 3:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        return httpx.Response(404, json={"error": {"code": "not_found", "message": "No."}})

    async def upload() -> None:
        async with AsyncClient("http://x", "k", transport=httpx.MockTransport(lost)) as client:
            await client.upload_document(b"%PDF")

    with Client("http://x", "k", transport=httpx.MockTransport(lost)) as client, pytest.raises(ParaphError):
        client.upload_document(b"%PDF")
    with pytest.raises(ParaphError):
        asyncio.run(upload())
    assert len(asked) == 6 and len(set(asked)) == 2
    once_more = Client("http://x", "k", retries=1, transport=httpx.MockTransport(lost))
    with once_more as client, pytest.raises(httpx.RemoteProtocolError):
        client.upload_document(b"%PDF")


@pytest.mark.parametrize(
    ("retry_for", "asked_to_wait", "attempts", "told"),
    [(60.0, "61", 1, 61.0), (60.0, "86400", 1, 86400.0), (0.5, "1", 1, 1.0), (0.0, "", 1, None), (2.5, "1", 3, 1.0)],
)
def test_retries_end_in_time_with_the_error_that_says_when(
    service: Answering, retry_for: float, asked_to_wait: str, attempts: int, told: float | None
) -> None:
    limited = {"error": {"code": "rate_limited", "message": "Wait."}}
    service.answers = [(429, limited, {"Retry-After": asked_to_wait} if asked_to_wait else {})] * 9

    async def health() -> None:
        async with AsyncClient(service.url, "k", retries=9, retry_for=retry_for) as client:
            await client.health()

    with pytest.raises(ParaphError, match="rate_limited") as refused:
        asyncio.run(health())
    assert (len(service.asked), refused.value.retry_after) == (attempts, told)


def test_retries_have_limits_by_default_and_of_number(service: Answering) -> None:
    """By default, the client waits for a minute at most."""
    service.answers = [refusal(429, "rate_limited", "61")]
    with Client(service.url, "k") as client, pytest.raises(ParaphError):
        client.health()
    assert len(service.asked) == 1
    service.answers = [refusal(429, "rate_limited")] * 3
    with Client(service.url, "k", retries=2) as client, pytest.raises(ParaphError, match="rate_limited"):
        client.health()
    assert len(service.asked) == 4


def test_all_pages_are_walked_by_both_clients(service: Answering) -> None:
    service.answers = [(200, _page(1, 2), {}), (200, _page(2, 2), {})] * 2

    async def walk() -> list[int]:
        async with AsyncClient(service.url, "k") as client:
            return [document.id async for document in client.iter_documents(status="ready")]

    with Client(service.url, "k") as client:
        walked = [document.id for document in client.iter_documents(status="ready")]
    assert walked == asyncio.run(walk()) == [1, 2]
    assert service.asked[1].path == service.asked[3].path == "/api/v1/documents?status=ready&limit=100&page=2"


def test_branding_profiles_are_read(service: Answering) -> None:
    service.answers = [(200, ANSWERS["listBrandingProfiles"]["one"][1], {})]
    with Client(service.url, "k") as client:
        assert [found.accent_color for found in client.iter_branding_profiles()] == ["#1d4ed8"]


def test_an_error_names_the_call(service: Answering) -> None:
    service.answers = [(404, {"error": {"code": "not_found", "message": "No."}}, {"X-Request-Id": "5f0c"})]
    with Client(service.url, "k") as client, pytest.raises(ParaphError) as caught:
        client.document(1)
    refused = caught.value
    assert (refused.status, refused.code, refused.message, refused.request_id) == (404, "not_found", "No.", "5f0c")


def test_an_answer_that_is_not_ours_is_an_error_all_the_same(service: Answering) -> None:
    service.answers = [(502, b"<html>", {})]
    with Client(service.url, "k", retries=0) as client, pytest.raises(ParaphError, match="502 unexpected_answer"):
        client.health()


def test_a_download_waits_for_its_turn_and_never_sees_the_key(service: Answering) -> None:
    service.answers = [refusal(503, "unavailable"), (200, b"%PDF", {})] * 2

    async def download() -> bytes:
        async with AsyncClient(service.url, "k" * 64) as client:
            return await client.download(f"{service.url}/files/x")

    with Client(service.url, "k" * 64) as client:
        assert client.download(f"{service.url}/files/x") == asyncio.run(download()) == b"%PDF"
    assert "k" * 64 not in str([asked.headers for asked in service.asked]), "a presigned address never sees the key"


def test_a_webhook_is_taken_only_with_its_own_signature() -> None:
    body = b'{"event": "signer.signed"}'
    genuine = "sha256=" + hmac.new(b"secret", body, hashlib.sha256).hexdigest()
    assert verify_webhook(body, genuine, "secret") == {"event": "signer.signed"}
    for wrong in (genuine[:-1], genuine.removeprefix("sha256="), "", "é"):
        with pytest.raises(InvalidSignatureError):
            verify_webhook(body, wrong, "secret")
    with pytest.raises(InvalidSignatureError):
        verify_webhook(body + b" ", genuine, "secret")
