"""A line to an HTTP server that can be made to hang: it accepts, and gives no answer, or one byte by byte."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal
from urllib.parse import urlsplit

_PIECE = 1 << 16
_LOOK_SECONDS = 0.05  # between looks whether the line goes on
_BYTE_SECONDS = 0.02
_HEAD_ENDS = b"\r\n\r\n"


class SlowLine:
    """``address``: of the line. ``asked``: how many requests came, or pieces of them. ``goes``: ``on``, as without the
    line; ``silent``, what is asked is taken and nothing is answered; ``slowly``, the heads of answers come, and then a
    byte now and then."""

    def __init__(self, listener: socket.socket, server: str) -> None:
        self.address = "http://{}:{}".format(*listener.getsockname())
        self.asked = 0
        self.goes: Literal["on", "silent", "slowly"] = "on"
        self._server = (urlsplit(server).hostname or "", urlsplit(server).port or 0)
        self._listener = listener
        self._ended = threading.Event()
        self._open: list[socket.socket] = []
        self._work: list[threading.Thread] = []

    def serve(self) -> None:
        while not self._ended.is_set():
            with suppress(TimeoutError):
                client, _ = self._listener.accept()
                client.settimeout(None)
                self._begin(self._connection, client)

    def end(self) -> None:
        self._ended.set()
        for each in self._open:
            _hang_up(each)
        for thread in self._work:
            thread.join()

    def _begin(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._work.append(thread)
        thread.start()
        return thread

    def _connection(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as server:
            self._open += [client, server]
            back = self._begin(self._pump, server, client, self._answer)
            self._pump(client, server, self._ask)
            back.join()

    def _pump(self, source: socket.socket, to: socket.socket, carry: Callable[[socket.socket, bytes], None]) -> None:
        with suppress(OSError):
            while piece := source.recv(_PIECE):
                carry(to, piece)
        _hang_up(source)
        _hang_up(to)

    def _ask(self, server: socket.socket, piece: bytes) -> None:
        self.asked += 1
        while self.goes == "silent" and not self._ended.wait(_LOOK_SECONDS):
            pass
        server.sendall(piece)

    def _answer(self, client: socket.socket, piece: bytes) -> None:
        head, body = piece, b""
        if self.goes == "slowly":
            length = piece.find(_HEAD_ENDS) + len(_HEAD_ENDS) if piece.startswith(b"HTTP/") else 0
            head, body = piece[:length], piece[length:]
        client.sendall(head)
        while body and self.goes == "slowly" and not self._ended.wait(_BYTE_SECONDS):
            client.sendall(body[:1])
            body = body[1:]
        client.sendall(body)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def slow_line(server: str) -> Iterator[SlowLine]:
    """Gives a line to the server at this address, which goes on at first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(_LOOK_SECONDS)
        line = SlowLine(listener, server)
        thread = threading.Thread(target=line.serve)
        thread.start()
        try:
            yield line
        finally:
            line.end()
            thread.join()
