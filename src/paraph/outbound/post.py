"""A POST to an address that a client named, bounded in time and size (rule 6.1)."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paraph.kernel.errors import DomainError
from paraph.outbound.exchange import FAULTS, NetworkAccess, OutboundRequest, exchange, explain

__all__ = ["NetworkAccess", "PostResult", "post"]

_READ_LIMIT = 64 * 1024
_KEEP_LIMIT = 2 * 1024


@dataclass(frozen=True)
class PostResult:
    """``status`` is None when no complete answer came; ``error`` then says why. ``body``: the beginning of the answer's
    body, at most 2 KiB. ``seconds``: the duration."""

    status: int | None
    body: bytes
    error: str
    seconds: float

    @property
    def accepted(self) -> bool:
        """Whether the status is 2xx. A redirect is never followed and counts as a refusal."""
        return self.status is not None and 200 <= self.status < 300


async def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    network: NetworkAccess,
    *,
    schemes: Sequence[str] = ("https", "http"),
    seconds: float = 5,
) -> PostResult:
    """POST ``body`` and return the result; never raise for anything that the other side does.

    ``seconds`` bounds everything: resolving the name, connecting, TLS, sending and reading. At most 64 KiB of the
    answer's body are read; a longer one is cut off, and its status alone counts.
    """
    began = time.monotonic()
    status, beginning, error = None, b"", ""
    try:
        async with asyncio.timeout(seconds):
            request = OutboundRequest("POST", body, headers, keep=_KEEP_LIMIT, read=_READ_LIMIT)
            status, beginning = await exchange(url, request, network, schemes, seconds)
    except TimeoutError:
        error = f"no complete answer within {seconds:g} seconds"
    except DomainError as refusal:
        error = refusal.message
    except FAULTS as fault:
        error = explain(fault)
    return PostResult(status, beginning, error, time.monotonic() - began)
