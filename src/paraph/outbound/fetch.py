"""Fetching a small resource whole from an address that a certificate names."""

import asyncio
from collections.abc import Mapping

from paraph.kernel.errors import DomainError
from paraph.outbound.exchange import FAULTS, NetworkAccess, OutboundRequest, exchange, explain

_MOST_REDIRECTS = 3


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

    ``seconds`` bounds everything. Up to three redirects are followed, to addresses that may be called as well. Must not
    be called where an event loop runs. Raise :class:`FetchFailed`.
    """
    method, most = "POST" if body else "GET", limit + 1
    request = OutboundRequest(method, body, headers or {}, keep=most, read=most, redirects=_MOST_REDIRECTS)
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
