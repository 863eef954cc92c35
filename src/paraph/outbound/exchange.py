"""One exchange with an address that may be named by others: judged, pinned, bounded in size."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import h11
import httpx

from paraph.kernel.errors import DomainError
from paraph.outbound.connect import Way, connect
from paraph.outbound.public_address import why_not_public
from paraph.outbound.resolve import Resolver, system_resolver
from paraph.outbound.url import check_url, port_of

FAULTS = (OSError, h11.ProtocolError)
"""What :func:`exchange` raises when the other side or the network fails, beside ``TimeoutError``."""


_BLOCK = 16 * 1024
_LONGEST_HEAD = 100 * 1024


@lru_cache(maxsize=1)
def public_tls() -> ssl.SSLContext:
    """The usual public authorities, or those of ``SSL_CERT_FILE``; made once, it takes milliseconds."""
    context = httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True)
class Route:
    """How the network is reached. ``proxy`` is the operator's, and may lie at a private address."""

    allow_private: bool = False
    proxy: str = ""
    resolve: Resolver = system_resolver
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True)
class Question:
    """What is sent, and how much of the answer is wanted: ``keep`` bytes are returned; a body of more than ``read``
    bytes is cut off there."""

    method: str
    body: bytes
    headers: Mapping[str, str]
    keep: int
    read: int


async def exchange(
    url: str, question: Question, route: Route, schemes: Sequence[str], seconds: float
) -> tuple[int, bytes]:
    """Status and beginning of the body. The caller bounds the time; ``seconds`` is what it allows for connecting.

    Raises ``DomainError`` for an address that is not called, :data:`FAULTS` and ``TimeoutError``.
    """
    target = check_url(url, name="The address", schemes=schemes)
    addresses = await _judged_addresses(target, route)
    host = target.raw_host.decode("ascii")
    tls = (route.tls or public_tls()) if target.scheme == "https" else None
    reader, writer = await connect(Way(addresses, port_of(target), host, tls, route.proxy), seconds)
    try:
        writer.write(_request(http := h11.Connection(h11.CLIENT, _LONGEST_HEAD), target, question))
        return await _answer(http, reader, question)
    finally:
        writer.transport.abort()  # nothing is owed: an answer was read as far as it is wanted


async def _judged_addresses(url: httpx.URL, route: Route) -> list[str]:
    """The host's addresses, resolved once; refuses all of them if one is not public."""
    addresses = await route.resolve(url.raw_host.decode("ascii"), port_of(url))
    for address in addresses:
        reason = "" if route.allow_private else why_not_public(address)
        if reason:
            raise DomainError("forbidden", f"Refused: {url.host} is at {address}, which is not public ({reason}).")
    return addresses


def _request(http: h11.Connection, target: httpx.URL, question: Question) -> bytes:
    headers = [
        ("Host", target.netloc.decode("ascii")),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
        *question.headers.items(),
    ]
    if question.body:
        headers.append(("Content-Length", str(len(question.body))))
    head = http.send(h11.Request(method=question.method, target=target.raw_path, headers=headers))
    body = http.send(h11.Data(question.body)) if question.body else b""
    return b"".join(part for part in (head, body, http.send(h11.EndOfMessage())) if part)


async def _answer(http: h11.Connection, reader: asyncio.StreamReader, question: Question) -> tuple[int, bytes]:
    status, kept, read = 0, b"", 0
    while read < question.read:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await _more(http, reader))
        elif isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            read += len(event.data)
            kept = (kept + event.data)[: question.keep]
        elif not isinstance(event, h11.InformationalResponse):
            break
    return status, kept


async def _more(http: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    block = await reader.read(_BLOCK)
    if not block and http.their_state is h11.SEND_RESPONSE:
        raise h11.RemoteProtocolError("Server disconnected without sending a response.")
    return block
