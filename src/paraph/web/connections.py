"""The connections of this process to clients, by what the kernel knows of them (Linux, tcp(7), ``TCP_INFO``)."""

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

# Of tcp_info, milliseconds since data left and since it came, bytes acknowledged and received, segments of data sent.
_INFO = struct.Struct("=44xI4xI64xQQ20xI")
_AT_ONCE = struct.pack("ii", 1, 0)  # struct linger: what was not sent when it is closed is thrown away


@dataclass(frozen=True)
class Connection:
    """``answered`` and ``silent``: seconds since data left for the client, and since some came from it (at most the
    connection's age), as exact as the kernel's clock ticks. ``received``: all bytes that ever came. ``ever``: whether
    it was ever answered. ``taken``: bytes that the client's machine has acknowledged, ``untaken``: those that wait for
    it in ours."""

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
        """Whether it may have sent something since it was last answered."""
        return self.silent <= self.answered

    @property
    def surely(self) -> bool:
        """Whether it has. Who asked and was answered within one tick, and has been idle since, only seems to owe."""
        return self.silent < self.answered or not self.ever

    @property
    def idle(self) -> float:
        """Seconds for which it has had nothing to ask and nothing to be told."""
        asked = self.received > 0 and self.surely
        return 0.0 if asked or self.untaken else min(self.silent, self.answered if self.ever else self.silent)

    def close_for_reading(self) -> None:
        """Who reads from it finds its end; an answer still leaves."""
        with suppress(OSError):  # it has gone by itself
            self._socket.shutdown(socket.SHUT_RD)

    def reset(self) -> None:
        """Who reads from it or writes to it finds its end, and what the client did not take is forgotten."""
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self._socket.shutdown(socket.SHUT_RDWR)


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
    info = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO.size)
    answered, silent, taken, received, segments = _INFO.unpack(info)
    untaken = int.from_bytes(fcntl.ioctl(copy, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    times = (answered / 1000, silent / 1000)
    return [Connection(str(peer), peer[0], *times, received, segments > 0, taken, untaken, copy)]
