"""One POST to an address that a client named, within bounds (specification 6.1)."""

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import httpcore
import httpx

from paraph.kernel.errors import DomainError
from paraph.outbound.connect import PinnedBackend
from paraph.outbound.public_address import why_not_public
from paraph.outbound.resolve import Resolver, system_resolver
from paraph.outbound.url import check_url, port_of

_READ_LIMIT = 64 * 1024
_KEEP_LIMIT = 2 * 1024


@lru_cache(maxsize=1)
def public_tls() -> ssl.SSLContext:
    """The usual public authorities, or those of ``SSL_CERT_FILE``; made once, it takes milliseconds."""
    return httpx.create_ssl_context()


@dataclass(frozen=True)
class Route:
    """How the network is reached. ``proxy`` is the operator's, and may lie at a private address."""

    allow_private: bool = False
    proxy: str = ""
    resolve: Resolver = system_resolver
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True)
class Answer:
    """``status`` is None when there was no answer in time; ``error`` then says why. ``body`` is the beginning
    of the answer's body, at most 2 KiB. ``seconds`` is how long it took."""

    status: int | None
    body: bytes
    error: str
    seconds: float

    @property
    def accepted(self) -> bool:
        """2xx. A redirect is a refusal: it is never followed."""
        return self.status is not None and 200 <= self.status < 300


async def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    route: Route,
    *,
    schemes: Sequence[str] = ("https", "http"),
    seconds: float = 5,
) -> Answer:
    """POSTs ``body`` and returns what came back; never raises for anything that the other side does.

    ``seconds`` covers everything: the name's resolution, connecting, TLS, sending and reading. At most 64 KiB
    of the answer are read; a longer one is cut off there and judged by its status.
    """
    began = time.monotonic()
    status, beginning, error = None, b"", ""
    try:
        async with asyncio.timeout(seconds):
            target = check_url(url, name="The address", schemes=schemes)
            backend = PinnedBackend(await _judged_addresses(target, route), route.proxy, seconds)
            status, beginning = await _exchange(target, body, headers, backend, route.tls or public_tls())
    except TimeoutError:
        error = f"no complete answer within {seconds:g} seconds"
    except DomainError as refusal:
        error = refusal.message
    except (
        OSError,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.TimeoutException,
    ) as fault:
        error = f"{type(fault).__name__}: {fault}"[:500]
    return Answer(status, beginning, error, time.monotonic() - began)


async def _judged_addresses(url: httpx.URL, route: Route) -> list[str]:
    """The host's addresses, resolved once; refuses all of them if one is not public."""
    addresses = await route.resolve(url.raw_host.decode("ascii"), port_of(url))
    for address in addresses:
        reason = "" if route.allow_private else why_not_public(address)
        if reason:
            raise DomainError("forbidden", f"Refused: {url.host} is at {address}, which is not public ({reason}).")
    return addresses


async def _exchange(
    target: httpx.URL, body: bytes, headers: Mapping[str, str], backend: PinnedBackend, tls: ssl.SSLContext
) -> tuple[int, bytes]:
    origin = httpcore.Origin(target.raw_scheme, target.raw_host, port_of(target))
    url = httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
    given = [
        ("Host", target.netloc.decode("ascii")),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
        *headers.items(),
    ]
    async with (
        httpcore.AsyncHTTPConnection(origin, ssl_context=tls, network_backend=backend) as connection,
        connection.stream("POST", url, headers=given, content=body) as response,
    ):
        return response.status, await _beginning(response)


async def _beginning(response: httpcore.Response) -> bytes:
    kept, read = b"", 0
    async for block in response.aiter_stream():
        read += len(block)
        kept = (kept + block[:_KEEP_LIMIT])[:_KEEP_LIMIT]
        if read >= _READ_LIMIT:
            break
    return kept
