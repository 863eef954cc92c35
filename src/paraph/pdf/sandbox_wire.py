"""How the service and its sandboxed processes talk: length-prefixed messages over a socket pair.

A message is a header (lengths of both parts), a JSON object and raw bytes. The file to read travels beside
the first bytes as a descriptor, so its bytes are copied once, into memory that both sides map. What a
sandboxed process sends is untrusted: JSON only, lengths are capped, nothing is unpickled.
"""

import json
import socket
import struct
import time
from typing import Any

_HEADER = struct.Struct("!IQ")
_LONGEST_OBJECT = 64 << 20
_LONGEST_CONTENT = 256 << 20


class ConnectionEndedError(ConnectionError):
    """The other side is gone, or sent what is not a message."""


def send(connection: socket.socket, message: dict[str, Any], content: bytes = b"", descriptor: int = -1) -> None:
    """Raises OSError when the other side is gone."""
    text = json.dumps(message, separators=(",", ":")).encode()
    start = _HEADER.pack(len(text), len(content)) + text
    if descriptor >= 0:
        start = start[socket.send_fds(connection, [start], [descriptor]) :]
    connection.sendall(start)
    if content:
        connection.sendall(content)


def receive(connection: socket.socket, seconds: float | None = None) -> tuple[dict[str, Any], bytes]:
    """The next message. Raises TimeoutError after ``seconds``, else OSError (ConnectionEndedError)."""
    deadline = None if seconds is None else time.monotonic() + seconds
    return _body(connection, _exactly(connection, _HEADER.size, deadline), deadline)


def receive_with_descriptor(connection: socket.socket) -> tuple[dict[str, Any], int]:
    """The next message and the descriptor that came with it. Raises OSError (ConnectionEndedError)."""
    start, descriptors, _, _ = socket.recv_fds(connection, _HEADER.size, 1)
    if not start or not descriptors:
        raise ConnectionEndedError
    start += _exactly(connection, _HEADER.size - len(start), None)
    return _body(connection, start, None)[0], descriptors[0]


def _body(connection: socket.socket, header: bytes, deadline: float | None) -> tuple[dict[str, Any], bytes]:
    text_length, content_length = _HEADER.unpack(header)
    if text_length > _LONGEST_OBJECT or content_length > _LONGEST_CONTENT:
        raise ConnectionEndedError
    try:
        message = json.loads(_exactly(connection, text_length, deadline))
    except (ValueError, RecursionError) as error:
        raise ConnectionEndedError from error
    if not isinstance(message, dict):
        raise ConnectionEndedError
    return message, _exactly(connection, content_length, deadline)


def _exactly(connection: socket.socket, length: int, deadline: float | None) -> bytes:
    content = bytearray(length)
    view, filled = memoryview(content), 0
    while filled < length:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
        received = connection.recv_into(view[filled:])
        if not received:
            raise ConnectionEndedError
        filled += received
    return bytes(content)
