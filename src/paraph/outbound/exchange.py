"""One HTTP exchange with an address that may be hostile: checked, pinned, bounded in size."""

import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import httpcore
import httpx

from paraph.kernel.errors import DomainError
from paraph.outbound.kept_connections import SECONDS, KeptConnections, PinnedConnection
from paraph.outbound.pinned_backend import PinnedBackend
from paraph.outbound.public_address import reason_not_public
from paraph.outbound.resolve import Resolver, system_resolver
from paraph.outbound.url import check_url, port_of

FAULTS = (OSError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, httpcore.TimeoutException)
"""Raised by :func:`exchange`, besides ``TimeoutError``, when the other side or the network fails."""
_REDIRECTS = {301, 302, 307, 308}
"""A request that is sent again, with its body, to the other address."""


def explain(fault: BaseException) -> str:
    """Say one of the :data:`FAULTS` in at most 500 characters, for those who read of deliveries."""
    if isinstance(fault, socket.gaierror):
        return f"the host name has no address: {fault.strerror}"
    return f"{type(fault).__name__}: {fault}"[:500]


@lru_cache(maxsize=1)
def public_tls() -> ssl.SSLContext:
    """Return a TLS context with the usual public authorities, or those of ``SSL_CERT_FILE``. Made once: it takes
    milliseconds."""
    return httpx.create_ssl_context()


@dataclass(frozen=True)
class NetworkAccess:
    """How the network is reached, and whether private addresses may be. ``proxy``: the operator's, "" for none.
    ``kept``: where connections are kept, None where each exchange has its own."""

    allow_private: bool = False
    proxy: str = ""
    resolve: Resolver = system_resolver
    tls: ssl.SSLContext | None = None
    kept: KeptConnections | None = None


@dataclass(frozen=True)
class OutboundRequest:
    """A request, and the limits of its answer: reading stops after ``read`` bytes of the body, of which the first
    ``keep`` are returned. ``redirects``: how many are followed, each checked like the first address."""

    method: str
    body: bytes
    headers: Mapping[str, str]
    keep: int
    read: int
    redirects: int = 0


async def exchange(
    url: str, request: OutboundRequest, network: NetworkAccess, schemes: Sequence[str], seconds: float
) -> tuple[int, bytes]:
    """Send the request and return the status and the beginning of the body. The caller bounds the whole time;
    ``seconds`` bounds connecting. Raise ``DomainError`` for an address that may not be called, :data:`FAULTS` and
    ``TimeoutError``.
    """
    answer = await _exchange(url, request, network, schemes, seconds)
    for _ in range(request.redirects):
        if answer.status not in _REDIRECTS or not answer.location:
            break
        url = _joined(url, answer.location)
        answer = await _exchange(url, request, network, schemes, seconds)
    return answer.status, answer.body


class _Answer(NamedTuple):
    status: int
    location: str
    body: bytes


def _joined(url: str, location: str) -> str:
    try:
        return str(httpx.URL(url).join(location))
    except httpx.InvalidURL:
        return location  # refused by its form


async def _exchange(
    url: str, request: OutboundRequest, network: NetworkAccess, schemes: Sequence[str], seconds: float
) -> _Answer:
    target = check_url(url, name="The address", schemes=schemes)
    origin = httpcore.Origin(target.raw_scheme, target.raw_host, port_of(target))
    addresses = await _resolve_public(target, network)
    if network.kept and (open_already := network.kept.take(origin, addresses)):
        with suppress(httpcore.NetworkError, httpcore.RemoteProtocolError):  # the server may be closing it by now
            return await _send(target, request, open_already, network.kept)
    backend, tls = PinnedBackend(addresses, network.proxy, seconds), network.tls or public_tls()
    connection = httpcore.AsyncHTTPConnection(origin, tls, SECONDS, network_backend=backend)
    return await _send(target, request, PinnedConnection(origin, backend, connection), network.kept)


async def _resolve_public(url: httpx.URL, network: NetworkAccess) -> list[str]:
    """Resolve the host once. Raise ``DomainError("forbidden", …)`` if any of its addresses is not public. Whoever named
    the host reads the refusal, which is no way to learn what names mean in the operator's network."""
    addresses = await network.resolve(url.raw_host.decode("ascii"), port_of(url))
    if not network.allow_private and any(map(reason_not_public, addresses)):
        raise DomainError("forbidden", f"Refused: {url.host} has an address that is not public.")
    return addresses


async def _send(
    target: httpx.URL, request: OutboundRequest, connection: PinnedConnection, kept: KeptConnections | None
) -> _Answer:
    url = httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
    headers = [
        ("Host", target.netloc.decode("ascii")),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
        ("Connection", "keep-alive" if kept else "close"),
        *request.headers.items(),
    ]
    content = request.body or None
    try:
        async with connection.http.stream(request.method, url, headers=headers, content=content) as response:
            location = next((value for name, value in response.headers if name.lower() == b"location"), b"")
            return _Answer(response.status, location.decode("latin-1"), await _beginning(response, request))
    finally:
        await (kept.keep(connection) if kept else connection.http.aclose())


async def _beginning(response: httpcore.Response, request: OutboundRequest) -> bytes:
    kept, read = b"", 0
    async for block in response.aiter_stream():
        read += len(block)
        kept = (kept + block)[: request.keep]
        if read >= request.read:
            break
    return kept
