"""Connections to addresses that were checked before, never to a name that could resolve anew; and those that stay open
after an exchange, for the next one with the same server."""

import base64
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import httpcore
import httpx

_ANSWER_LIMIT = 8192  # bytes
_SHORTEST_TRY_SECONDS = 0.5
SECONDS = 4.0  # fewer than a delivery may take: a server that serves one client at a time keeps others waiting
_MOST = 100


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """A network backend of httpcore that tries the given addresses in turn, whatever host it is asked for.

    TLS and the ``Host`` header still use the name, so certificates are verified for it. ``proxy`` is ``""`` or
    ``http://[user:password@]host:port``; it is asked to CONNECT to the same addresses. ``seconds``: shared by all
    tries.
    """

    def __init__(self, addresses: Sequence[str], proxy: str, seconds: float) -> None:
        self._addresses = addresses
        self._proxy = httpx.URL(proxy) if proxy else None
        self._seconds = seconds
        self._network = httpcore.AnyIOBackend()
        self.address = ""
        """The one at the other end, once connected."""

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
    again only where the address at its other end is among those that were found."""

    def __init__(self) -> None:
        self._kept: list[PinnedConnection] = []

    def take(self, origin: httpcore.Origin, addresses: Sequence[str]) -> PinnedConnection | None:
        """Return a connection that nobody else has from now on; None where there is none that its server left open."""
        for kept in self._kept:
            if kept.origin == origin and kept.backend.address in addresses and not kept.http.has_expired():
                self._kept.remove(kept)
                return kept
        return None

    async def keep(self, connection: PinnedConnection) -> None:
        """Keep the connection if its exchange has ended as it should and its server agrees, else close it."""
        http = connection.http
        if http.is_idle() and not http.has_expired() and len(self._kept) < _MOST:
            self._kept.append(connection)
        else:
            await http.aclose()

    async def close_expired(self, *, all_of_them: bool = False) -> None:
        """Close what nobody has used for :data:`SECONDS`, and what its server has closed."""
        for kept in [kept for kept in self._kept if all_of_them or kept.http.has_expired()]:
            self._kept.remove(kept)
            await kept.http.aclose()
