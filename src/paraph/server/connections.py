"""What the kernel knows of this process's connections to clients (Linux: tcp(7), ``TCP_INFO``)."""

import fcntl
import os
import socket
import stat
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# Of the kernel's tcp_info: milliseconds since data left, milliseconds since data came, bytes acknowledged, bytes
# received, segments of data sent.
_INFO = struct.Struct("=44xI4xI64xQQ20xI")
_AT_ONCE = struct.pack("ii", 1, 0)  # struct linger: what was not sent when it is closed is thrown away


@dataclass(frozen=True)
class Connection:
    """A connection to a client at one moment.

    ``answered`` and ``silent``: seconds since data last left for the client, and since data last came from it; both
    are at most the age of the connection, and as exact as the kernel's clock. ``ever``: whether data has ever left for
    it. ``received``: all bytes that ever came. ``taken``: bytes that the client's machine has acknowledged.
    ``untaken``: bytes that this machine still holds for it.
    """

    name: str
    address: str
    answered: float
    silent: float
    received: int
    ever: bool
    taken: int
    untaken: int
    _socket: socket.socket

    @property
    def owes(self) -> bool:
        """Whether the client may have sent something since it was last answered."""
        return self.silent <= self.answered

    @property
    def surely_owes(self) -> bool:
        """Whether it certainly has. A request that came and was answered within one tick of the clock looks the same
        as one that came after the answer; ``owes`` counts both, this only the second."""
        return self.silent < self.answered or not self.ever

    def close_for_reading(self) -> None:
        """Let a thread that reads from it find the end; a response still leaves."""
        with suppress(OSError):  # it has gone by itself
            self._socket.shutdown(socket.SHUT_RD)

    def reset(self) -> None:
        """End it both ways and drop what the client has not taken yet."""
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self._socket.shutdown(socket.SHUT_RDWR)


@contextmanager
def connections_to(port: int) -> Iterator[list[Connection]]:
    """Yield the connections that clients have to this port of the process, to be used inside of the ``with``."""
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
    info = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO.size)
    answered, silent, taken, received, segments = _INFO.unpack(info)
    untaken = int.from_bytes(fcntl.ioctl(copy, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    times = (answered / 1000, silent / 1000)
    return [Connection(str(peer), peer[0], *times, received, segments > 0, taken, untaken, copy)]
