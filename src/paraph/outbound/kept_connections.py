"""Connections that stay open after an exchange, for the next one with the same server."""

from collections.abc import Sequence
from typing import NamedTuple

import httpcore

from paraph.outbound.pinned_backend import PinnedBackend

SECONDS = 4.0  # fewer than a delivery may take: a server that serves one client at a time keeps others waiting
_MOST = 100


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
