"""The asynchronous client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

import httpx

from paraph_client import calls
from paraph_client.calls import Call
from paraph_client.inputs import DocumentInput, SignerInput
from paraph_client.models import AuditLogEntry, BrandingProfile, Document, Health, Page, SignatureRequest

T = TypeVar("T")
_TIMEOUT_SECONDS = 30.0
_LARGEST_PAGE = 100


class AsyncClient:
    """One connection pool, one API key.

    ``address`` is where the service lives (``https://sign.example.com``); ``retries`` how often a call is
    sent again after a 429, a 5xx that may pass or a lost connection; ``language`` that of error messages;
    ``transport`` an httpx transport of your own.
    Every method raises ``ParaphError`` when the service refuses, ``httpx.HTTPError`` when it cannot be reached.
    """

    def __init__(
        self,
        address: str,
        api_key: str,
        *,
        retries: int = 3,
        timeout: float = _TIMEOUT_SECONDS,
        language: str = "en",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._http = httpx.AsyncClient(
            base_url=f"{address.rstrip('/')}/api/v1/",
            headers={"X-Api-Key": api_key, "Accept-Language": language, "User-Agent": calls.USER_AGENT},
            timeout=timeout,
            transport=transport,
        )

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def health(self) -> Health:
        return await self._run(calls.health())

    async def upload_document(self, content: bytes, name: str = "document.pdf") -> Document:
        """Uploads a PDF; ``name`` is what the proof file calls it."""
        return await self._run(calls.upload_document(content, name))

    async def document(self, document_id: int) -> Document:
        """One document, with a fresh ``download_url``."""
        return await self._run(calls.document(document_id))

    async def documents(self, *, page: int = 1, limit: int = 20, **filters: str | None) -> Page[Document]:
        """One page; filters ``status``, ``created_after``, ``created_before``, ``order``."""
        return await self._run(calls.documents(page=page, limit=limit, **filters))

    async def iter_documents(self, **filters: str | None) -> AsyncIterator[Document]:
        """All of them, page by page."""
        async for item in self._walk(lambda page: calls.documents(page=page, limit=_LARGEST_PAGE, **filters)):
            yield item

    async def create_signature_request(
        self,
        *,
        mode: Literal["sequential", "parallel"],
        validity_days: int,
        signers: Sequence[SignerInput],
        documents: Sequence[DocumentInput],
        send_email: bool | None = None,
        identity_declaration_accepted: bool | None = None,
        initials_required: bool | None = None,
        notify_signers_on_completion: bool | None = None,
        callback_url: str | None = None,
        branding_profile_id: int | None = None,
    ) -> SignatureRequest:
        """Creates a request, once: a repetition after a lost connection finds what was created."""
        fields: dict[str, Any] = {
            "mode": mode,
            "validity_days": validity_days,
            "send_email": send_email,
            "identity_declaration_accepted": identity_declaration_accepted,
            "initials_required": initials_required,
            "notify_signers_on_completion": notify_signers_on_completion,
            "callback_url": callback_url,
            "branding_profile_id": branding_profile_id,
        }
        return await self._run(calls.create_signature_request(signers, documents, fields))

    async def signature_request(self, request_id: int) -> SignatureRequest:
        """One request; ``download_urls`` are filled once it is finalized."""
        return await self._run(calls.signature_request(request_id))

    async def signature_requests(
        self, *, page: int = 1, limit: int = 20, **filters: str | None
    ) -> Page[SignatureRequest]:
        """One page; filters ``status``, ``created_after``, ``created_before``, ``order``."""
        return await self._run(calls.signature_requests(page=page, limit=limit, **filters))

    async def iter_signature_requests(self, **filters: str | None) -> AsyncIterator[SignatureRequest]:
        """All of them, page by page."""
        async for item in self._walk(lambda page: calls.signature_requests(page=page, limit=_LARGEST_PAGE, **filters)):
            yield item

    async def audit_logs(self, request_id: int, *, page: int = 1, limit: int = 20) -> Page[AuditLogEntry]:
        """One page of a request's journal, oldest first."""
        return await self._run(calls.audit_logs(request_id, page=page, limit=limit))

    async def iter_audit_logs(self, request_id: int) -> AsyncIterator[AuditLogEntry]:
        """The whole journal of a request, oldest first."""
        async for item in self._walk(lambda page: calls.audit_logs(request_id, page=page, limit=_LARGEST_PAGE)):
            yield item

    async def branding_profiles(self, *, page: int = 1, limit: int = 20) -> Page[BrandingProfile]:
        """One page, sorted by name."""
        return await self._run(calls.branding_profiles(page=page, limit=limit))

    async def iter_branding_profiles(self) -> AsyncIterator[BrandingProfile]:
        """All of them, sorted by name."""
        async for item in self._walk(lambda page: calls.branding_profiles(page=page, limit=_LARGEST_PAGE)):
            yield item

    async def download(self, url: str) -> bytes:
        """The bytes behind a presigned URL. The API key is not sent there."""
        async with httpx.AsyncClient(timeout=self._http.timeout) as plain:
            answer = await self._tried(lambda: plain.get(url))
            answer.raise_for_status()
            return answer.content

    async def _walk(self, call: Callable[[int], Call[Page[T]]]) -> AsyncIterator[T]:
        number = pages = 1
        while number <= pages:
            page = await self._run(call(number))
            for item in page.data:
                yield item
            number, pages = number + 1, page.pagination.pages

    async def _run(self, call: Call[T]) -> T:
        return call.read(await self._tried(lambda: self._http.request(call.method, call.path, **call.options)))

    async def _tried(self, ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
        """The first answer that does not pass by itself, or the last."""
        tried = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await ask()
            except httpx.TransportError as error:
                outcome = error
            wait = calls.wait_before_repeating(outcome, tried) if tried < self._retries else None
            if wait is not None:
                await asyncio.sleep(wait)
                tried += 1
            elif isinstance(outcome, httpx.Response):
                return outcome
            else:
                raise outcome
