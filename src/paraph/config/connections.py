"""The connections of this process to clients, by what the kernel knows of them (Linux, tcp(7), ``TCP_INFO``)."""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_INFO_BYTES = 136
_CLOCKS = struct.Struct("=36xI4xI")  # of tcp_info behind its first 8 bytes: milliseconds since data left, and came
_RECEIVED = struct.Struct("=Q")  # the last 8 of those bytes


@dataclass(frozen=True)
class Connection:
    """``answered`` and ``silent``: seconds since data left for the client, and since some came from it (at most the
    connection's age). ``received``: all bytes that ever came."""

    name: str
    answered: float
    silent: float
    received: int
    _socket: socket.socket

    @property
    def owes(self) -> bool:
        """Whether it has sent something since it was last answered."""
        return self.silent <= self.answered

    def close_for_reading(self) -> None:
        """Who reads from it finds its end; an answer still leaves."""
        with suppress(OSError):  # it has gone by itself
            self._socket.shutdown(socket.SHUT_RD)


@contextmanager
def connections_to(port: int) -> Iterator[list[Connection]]:
    """The established connections of clients to that port of ours."""
    with ExitStack() as stack:
        found = []
        for entry in Path("/proc/self/fd").iterdir():
            with suppress(OSError):  # it was closed since
                descriptor = int(entry.name)
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    copy = stack.enter_context(socket.socket(fileno=os.dup(descriptor)))
                    found += _connection(copy, port)
        yield found


def _connection(copy: socket.socket, port: int) -> list[Connection]:
    if copy.family not in (socket.AF_INET, socket.AF_INET6) or copy.getsockname()[1] != port:
        return []
    peer = copy.getpeername()  # fails for the socket that listens
    info = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    answered, silent = _CLOCKS.unpack_from(info, 8)
    (received,) = _RECEIVED.unpack_from(info, _INFO_BYTES - _RECEIVED.size)
    return [Connection(str(peer), answered / 1000, silent / 1000, received, copy)]
