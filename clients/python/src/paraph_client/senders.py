"""Sending calls: a synchronous sender, and an asynchronous one."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeVar

import httpx

from paraph_client.call import Attempts, Call
from paraph_client.connection import RETRY_SECONDS, TIMEOUT_SECONDS, of_service
from paraph_client.lists import Part

T = TypeVar("T")


class Sender:
    """Sends calls and waits for their answers."""

    def __init__(
        self,
        address: str,
        api_key: str,
        *,
        retries: int = 3,
        retry_for: float = RETRY_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        language: str = "en",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._retries, self._retry_for = retries, retry_for
        self._http = httpx.Client(**of_service(address, api_key, language), timeout=timeout, transport=transport)

    def close(self) -> None:
        self._http.close()

    def run(self, call: Call[T]) -> T:
        """What the service answers to a call."""
        return call.read(self._tried(lambda: self._http.request(call.method, call.path, **call.options)))

    def walk(self, call: Call[Part[T]]) -> Iterator[T]:
        """The entries of all pages of a list."""
        more: Call[Part[T]] | None = call
        while more:
            page = self.run(more)
            yield from page.data
            more = page.following(more)

    def download(self, url: str) -> bytes:
        """The bytes behind a presigned URL. The API key is not sent there."""
        with httpx.Client(timeout=self._http.timeout) as plain:
            return self._tried(lambda: plain.get(url)).raise_for_status().content

    def _tried(self, ask: Callable[[], httpx.Response]) -> httpx.Response:
        """The first answer that does not pass by itself, or the last."""
        attempts = Attempts(self._retries, self._retry_for)
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = ask()
            except httpx.TransportError as error:
                outcome = error
            if (wait := attempts.wait(outcome)) is not None:
                time.sleep(wait)
            elif isinstance(outcome, httpx.Response):
                return outcome
            else:
                raise outcome


class AsyncSender:
    """Sends calls and awaits their answers."""

    def __init__(
        self,
        address: str,
        api_key: str,
        *,
        retries: int = 3,
        retry_for: float = RETRY_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        language: str = "en",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries, self._retry_for = retries, retry_for
        self._http = httpx.AsyncClient(**of_service(address, api_key, language), timeout=timeout, transport=transport)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def run(self, call: Call[T]) -> T:
        """What the service answers to a call."""
        return call.read(await self._tried(lambda: self._http.request(call.method, call.path, **call.options)))

    async def walk(self, call: Call[Part[T]]) -> AsyncIterator[T]:
        """The entries of all pages of a list."""
        more: Call[Part[T]] | None = call
        while more:
            page = await self.run(more)
            for entry in page.data:
                yield entry
            more = page.following(more)

    async def download(self, url: str) -> bytes:
        """The bytes behind a presigned URL. The API key is not sent there."""
        async with httpx.AsyncClient(timeout=self._http.timeout) as plain:
            return (await self._tried(lambda: plain.get(url))).raise_for_status().content

    async def _tried(self, ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
        """The first answer that does not pass by itself, or the last."""
        attempts = Attempts(self._retries, self._retry_for)
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await ask()
            except httpx.TransportError as error:
                outcome = error
            if (wait := attempts.wait(outcome)) is not None:
                await asyncio.sleep(wait)
            elif isinstance(outcome, httpx.Response):
                return outcome
            else:
                raise outcome
