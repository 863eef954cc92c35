"""HTTP with hosts that may be hostile: checked, pinned to resolved addresses, bounded in time and size. A connection
goes to an address that was checked before, never to a name that could resolve anew; some connections are kept for
later. :func:`post` is for addresses that clients name (rule 6.1), :func:`fetch` for those that certificates name."""

import asyncio
import base64
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

import httpcore
import httpx

from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url, port_of, reason_not_public

_ANSWER_LIMIT = 8192  # bytes
_SHORTEST_TRY_SECONDS = 0.5
SECONDS = 4.0  # less than a delivery may take: an idle connection blocks a server that serves one client at a time
_MOST = 100


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """A network backend of httpcore that tries the given addresses in turn, whatever host it is asked for. TLS and the
    ``Host`` header still use the name, so certificates are verified for it. ``proxy`` is ``""`` or
    ``http://[user:password@]host:port``; it is asked to CONNECT to the same addresses. ``seconds``: shared by all
    tries."""

    def __init__(self, addresses: Sequence[str], proxy: str, seconds: float) -> None:
        self._addresses = addresses
        self._proxy = httpx.URL(proxy) if proxy else None
        self._seconds = seconds
        self._network = httpcore.AnyIOBackend()
        self.address = ""
        """The address at the other end, once connected."""

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002  the addresses are fixed
        port: int,
        timeout: float | None = None,  # noqa: ARG002  the whole exchange has one limit
        local_address: str | None = None,  # noqa: ARG002  the form of httpcore
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002  the form of httpcore
    ) -> httpcore.AsyncNetworkStream:
        share = max(self._seconds / len(self._addresses), _SHORTEST_TRY_SECONDS)
        for address in self._addresses[:-1]:
            try:
                return await self._connect(address, port, share)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._connect(self._addresses[-1], port, None)

    async def _connect(self, address: str, port: int, seconds: float | None) -> httpcore.AsyncNetworkStream:
        self.address = address
        if self._proxy is None:
            return await self._network.connect_tcp(address, port, timeout=seconds)
        stream = await self._network.connect_tcp(self._proxy.host, self._proxy.port or 80, timeout=seconds)
        try:
            await _tunnel(stream, f"[{address}]:{port}" if ":" in address else f"{address}:{port}", self._proxy)
        except BaseException:
            await stream.aclose()
            raise
        return stream


async def _tunnel(stream: httpcore.AsyncNetworkStream, target: str, proxy: httpx.URL) -> None:
    """Ask the proxy for a tunnel to ``target`` (RFC 9110 §9.3.6)."""
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.userinfo:
        credentials = base64.b64encode(unquote(proxy.userinfo.decode()).encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {credentials}")
    await stream.write("\r\n".join([*lines, "", ""]).encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        block = await stream.read(_ANSWER_LIMIT)
        answer += block
        if not block or len(answer) > _ANSWER_LIMIT:
            raise httpcore.ProxyError("the proxy did not answer CONNECT with HTTP")
    first_line = answer.split(b"\r\n", 1)[0]
    if first_line.split(b" ")[1:2] != [b"200"]:
        raise httpcore.ProxyError(f"the proxy refused: {first_line[:200].decode(errors='replace')}")


class PinnedConnection(NamedTuple):
    """A connection to a server, and the backend that knows the address at its other end."""

    origin: httpcore.Origin
    backend: PinnedBackend
    http: httpcore.AsyncHTTPConnection


class KeptConnections:
    """The kept connections of one event loop. A host is checked anew before each exchange, and a connection is used
    again only if the address at its other end is among those that the host has then."""

    def __init__(self) -> None:
        self._kept: list[PinnedConnection] = []

    def take(self, origin: httpcore.Origin, addresses: Sequence[str]) -> PinnedConnection | None:
        """Remove and return a kept connection that is still open; None if there is none to these addresses."""
        for kept in self._kept:
            if kept.origin == origin and kept.backend.address in addresses and not kept.http.has_expired():
                self._kept.remove(kept)
                return kept
        return None

    async def keep(self, connection: PinnedConnection) -> None:
        """Keep the connection if its exchange has ended properly and its server leaves it open; else close it."""
        http = connection.http
        if http.is_idle() and not http.has_expired() and len(self._kept) < _MOST:
            self._kept.append(connection)
        else:
            await http.aclose()

    async def close_expired(self, *, all_of_them: bool = False) -> None:
        """Close the connections that were not used for :data:`SECONDS`, or that their server has closed."""
        for kept in [kept for kept in self._kept if all_of_them or kept.http.has_expired()]:
            self._kept.remove(kept)
            await kept.http.aclose()


Resolver = Callable[[str, int], Awaitable[list[str]]]

_FAULTS = (OSError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, httpcore.TimeoutException)
"""Raised by :func:`_exchange`, besides ``TimeoutError``, when the other side or the network fails."""
_REDIRECTS = {301, 302, 307, 308}
"""Statuses after which the request is sent again, with its body, to the other address."""
_MOST_REDIRECTS = 3
_POST_READ, _POST_KEEP = 64 * 1024, 2 * 1024  # bytes of an answer
_RESOLVERS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="resolve")


async def system_resolver(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the system's order of preference. Raise ``OSError`` when there are none. Names
    are resolved on threads of their own, so that a name server that does not answer delays nothing else."""
    return await asyncio.get_running_loop().run_in_executor(_RESOLVERS, _addresses, host, port)


def _addresses(host: str, port: int) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # no host name can have such a label
        raise OSError(f"{host} is not a name") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


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


@dataclass(frozen=True)
class _Request:
    """A request, and the limits of its answer: reading stops after ``read`` bytes of the body, of which the first
    ``keep`` are returned. ``redirects``: how many are followed, each checked like the first address."""

    method: str
    body: bytes
    headers: Mapping[str, str]
    keep: int
    read: int
    redirects: int = 0


async def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    network: NetworkAccess,
    *,
    schemes: Sequence[str] = ("https", "http"),
    seconds: float = 5,
) -> PostResult:
    """POST ``body`` and return the result; never raise for anything that the other side does. ``seconds`` bounds
    everything: resolving the name, connecting, TLS, sending and reading. At most 64 KiB of the answer's body are read;
    a longer one is cut off, and its status alone counts."""
    began = time.monotonic()
    status, beginning, error = None, b"", ""
    try:
        request = _Request("POST", body, headers, keep=_POST_KEEP, read=_POST_READ)
        status, beginning = await _exchange(url, request, network, schemes, seconds)
    except TimeoutError:
        error = f"no complete answer within {seconds:g} seconds"
    except DomainError as refusal:
        error = refusal.message
    except _FAULTS as fault:
        error = _explain(fault)
    return PostResult(status, beginning, error, time.monotonic() - began)


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
    schemes: Sequence[str] = ("http", "https"),
) -> bytes:
    """Send GET, or POST when there is a ``body``, and return the body of the answer, at most ``limit`` bytes.
    ``seconds`` bounds everything. Up to three redirects are followed, to addresses that may be called as well. Must not
    be called where an event loop runs. Raise :class:`FetchFailed`."""
    method, most = "POST" if body else "GET", limit + 1
    request = _Request(method, body, headers or {}, keep=most, read=most, redirects=_MOST_REDIRECTS)
    try:
        status, content = asyncio.run(_exchange(url, request, network, schemes, seconds))
    except TimeoutError as error:
        raise FetchFailed(f"no complete answer within {seconds:g} seconds") from error
    except DomainError as error:
        raise FetchFailed(error.message.rstrip(".")) from error
    except _FAULTS as error:
        raise FetchFailed(_explain(error)) from error
    if status != 200:
        raise FetchFailed(f"the answer has HTTP status {status}")
    if len(content) > limit:
        raise FetchFailed(f"the answer is larger than {limit} bytes")
    return content


async def _exchange(
    url: str, request: _Request, network: NetworkAccess, schemes: Sequence[str], seconds: float
) -> tuple[int, bytes]:
    """Send the request and return the status and the beginning of the body. ``seconds`` bounds everything. Raise
    ``DomainError`` for an address that may not be called, one of :data:`_FAULTS`, or ``TimeoutError``."""
    async with asyncio.timeout(seconds):
        answer = await _exchange_once(url, request, network, schemes, seconds)
        for _ in range(request.redirects):
            if answer.status not in _REDIRECTS or not answer.location:
                break
            url = _joined(url, answer.location)
            answer = await _exchange_once(url, request, network, schemes, seconds)
    return answer.status, answer.body


class _Answer(NamedTuple):
    status: int
    location: str
    body: bytes


def _joined(url: str, location: str) -> str:
    try:
        return str(httpx.URL(url).join(location))
    except httpx.InvalidURL:
        return location  # will be refused because of its form


async def _exchange_once(
    url: str, request: _Request, network: NetworkAccess, schemes: Sequence[str], seconds: float
) -> _Answer:
    target = check_url(url, name="The address", schemes=schemes)
    origin = httpcore.Origin(target.raw_scheme, target.raw_host, port_of(target))
    addresses = await _resolve_public(target, network)
    if network.kept and (open_already := network.kept.take(origin, addresses)):
        with suppress(httpcore.NetworkError, httpcore.RemoteProtocolError):  # the server may be closing it by now
            return await _send(target, request, open_already, network.kept)
    backend, tls = PinnedBackend(addresses, network.proxy, seconds), network.tls or _public_tls()
    connection = httpcore.AsyncHTTPConnection(origin, tls, SECONDS, network_backend=backend)
    return await _send(target, request, PinnedConnection(origin, backend, connection), network.kept)


async def _resolve_public(url: httpx.URL, network: NetworkAccess) -> list[str]:
    """Resolve the host once. Raise ``DomainError("forbidden", …)`` if any of its addresses is not public. The refusal
    does not tell the client which addresses names have in the operator's network."""
    addresses = await network.resolve(url.raw_host.decode("ascii"), port_of(url))
    if not network.allow_private and any(map(reason_not_public, addresses)):
        raise DomainError("forbidden", f"Refused: {url.host} has an address that is not public.")
    return addresses


async def _send(
    target: httpx.URL, request: _Request, connection: PinnedConnection, kept: KeptConnections | None
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


async def _beginning(response: httpcore.Response, request: _Request) -> bytes:
    kept, read = b"", 0
    async for block in response.aiter_stream():
        read += len(block)
        kept = (kept + block)[: request.keep]
        if read >= request.read:
            break
    return kept


@lru_cache(maxsize=1)
def _public_tls() -> ssl.SSLContext:
    """Return a TLS context with the usual public authorities, or those of ``SSL_CERT_FILE``. Made once: it takes
    milliseconds."""
    return httpx.create_ssl_context()


def _explain(fault: BaseException) -> str:
    """Describe one of the :data:`_FAULTS` in at most 500 characters, for people who look at deliveries."""
    if isinstance(fault, socket.gaierror):
        return f"the host name has no address: {fault.strerror}"
    return f"{type(fault).__name__}: {fault}"[:500]
