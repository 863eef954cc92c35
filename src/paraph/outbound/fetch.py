"""Fetches a small resource whole from an address that a certificate names."""

import asyncio
from collections.abc import Mapping

from paraph.kernel.errors import DomainError
from paraph.outbound.exchange import FAULTS, NetworkAccess, OutboundRequest, exchange, explain


class FetchFailed(ValueError):
    """The resource could not be fetched. The message is the reason, without a full stop."""


def fetch(
    url: str,
    network: NetworkAccess,
    *,
    seconds: float,
    limit: int,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Send GET, or POST when there is a ``body``, and return the body of the answer, at most ``limit`` bytes.

    ``seconds`` bounds everything. Redirects are not followed. Must not be called where an event loop runs. Raises
    :class:`FetchFailed`.
    """
    request = OutboundRequest("POST" if body else "GET", body, headers or {}, keep=limit + 1, read=limit + 1)
    try:
        status, content = asyncio.run(_within(url, request, network, seconds))
    except TimeoutError as error:
        raise FetchFailed(f"no complete answer within {seconds:g} seconds") from error
    except DomainError as error:
        raise FetchFailed(error.message.rstrip(".")) from error
    except FAULTS as error:
        raise FetchFailed(explain(error)) from error
    if status != 200:
        raise FetchFailed(f"the answer has HTTP status {status}")
    if len(content) > limit:
        raise FetchFailed(f"the answer is larger than {limit} bytes")
    return content


async def _within(url: str, request: OutboundRequest, network: NetworkAccess, seconds: float) -> tuple[int, bytes]:
    async with asyncio.timeout(seconds):
        return await exchange(url, request, network, ("http", "https"), seconds)
