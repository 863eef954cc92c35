"""The way to the network of one exchange: to addresses already judged, never by name."""

import asyncio
import base64
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import httpx

_ANSWER_LIMIT = 8192
_SHORTEST_TRY = 0.5


class ConnectError(OSError):
    """Nobody answers at the address."""


class ProxyError(OSError):
    """The proxy answers, and does not let us through."""


@dataclass(frozen=True)
class Way:
    """``addresses`` and ``port`` of the host. ``tls``, where there is to be TLS, verifies the certificate for the
    ``host``'s name. ``proxy`` ("" for none) is ``http://[user:password@]host:port``: it is asked to CONNECT to the
    same addresses."""

    addresses: Sequence[str]
    port: int
    host: str
    tls: ssl.SSLContext | None
    proxy: str = ""


async def connect(way: Way, seconds: float) -> tuple[StreamReader, StreamWriter]:
    """Tries the addresses in turn until one answers, all but the last for their share of ``seconds``. Raises
    ``OSError``: :class:`ConnectError`, :class:`ProxyError` or what TLS finds wrong."""
    share = max(seconds / len(way.addresses), _SHORTEST_TRY)
    for address in way.addresses[:-1]:
        try:
            async with asyncio.timeout(share):
                return await _reach(way, address)
        except (ConnectError, TimeoutError):
            continue
    return await _reach(way, way.addresses[-1])


async def _reach(way: Way, address: str) -> tuple[StreamReader, StreamWriter]:
    if way.proxy:
        return await _tunnel(way, f"[{address}]:{way.port}" if ":" in address else f"{address}:{way.port}")
    return await _open(address, way.port, way.tls, way.host)


async def _open(
    address: str, port: int, tls: ssl.SSLContext | None = None, host: str = ""
) -> tuple[StreamReader, StreamWriter]:
    try:
        return await asyncio.open_connection(
            address, port, ssl=tls, server_hostname=host if tls else None, limit=_ANSWER_LIMIT
        )
    except ssl.SSLError:
        raise
    except OSError as error:
        raise ConnectError(str(error)) from error


async def _tunnel(way: Way, target: str) -> tuple[StreamReader, StreamWriter]:
    """Asks the proxy for a way through (RFC 9110 §9.3.6)."""
    proxy = httpx.URL(way.proxy)
    reader, writer = await _open(proxy.host, proxy.port or 80)
    try:
        await _ask_for_a_tunnel(reader, writer, proxy, target)
        if way.tls:
            await writer.start_tls(way.tls, server_hostname=way.host)
    except BaseException:
        writer.transport.abort()
        raise
    return reader, writer


async def _ask_for_a_tunnel(reader: StreamReader, writer: StreamWriter, proxy: httpx.URL, target: str) -> None:
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.userinfo:
        credentials = base64.b64encode(unquote(proxy.userinfo.decode()).encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {credentials}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        answer = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise ProxyError("the proxy did not answer CONNECT with HTTP") from error
    first_line = answer.split(b"\r\n", 1)[0]
    if first_line.split(b" ")[1:2] != [b"200"]:
        raise ProxyError(f"the proxy refused: {first_line[:200].decode(errors='replace')}")
