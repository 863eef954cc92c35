"""The protocol between the service and its sandboxed processes: length-prefixed messages over a socket pair.

A message is a header (both lengths), a JSON object and raw bytes. The files to read travel beside the first bytes as
descriptors, so their bytes are copied once, into memory that both sides map. A sandboxed process is untrusted: only
JSON is accepted, lengths are capped, nothing is unpickled.
"""

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

JobAnswer = tuple[dict[str, Any], bytes]
"""What a job answers: values for JSON, and bytes."""

_HEADER = struct.Struct("!IQ")
_AT_ONCE = 64 << 10
_PIECE = 1 << 20
_LONGEST_OBJECT = 64 << 20
_LONGEST_CONTENT = 256 << 20
MOST_FILES = 253  # descriptors that Linux passes with one message


class ConnectionEndedError(ConnectionError):
    """The other side is gone."""


class NoMessageError(ConnectionError):
    """The other side sent something that is not a message."""


def send(
    connection: socket.socket, message: dict[str, Any], content: bytes = b"", descriptors: Sequence[int] = ()
) -> None:
    """Send a message, and at most :data:`MOST_FILES` descriptors. Raise OSError if the other side is gone."""
    text = json.dumps(message, separators=(",", ":")).encode()
    start = _HEADER.pack(len(text), len(content)) + text
    if descriptors:
        start = start[socket.send_fds(connection, [start], descriptors) :]
    connection.sendall(start)
    if content:
        connection.sendall(content)


def receive(connection: socket.socket, seconds: float | None = None) -> tuple[dict[str, Any], bytes]:
    """Return the next message, after which the other side waits. Raise TimeoutError after ``seconds``, else OSError
    (ConnectionEndedError, NoMessageError)."""
    deadline = None if seconds is None else time.monotonic() + seconds
    if seconds is not None:
        connection.settimeout(seconds)
    return _message(connection, connection.recv(_AT_ONCE), deadline)


def receive_with_descriptors(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the next message and the descriptors that came with it. Raises as :func:`receive` does."""
    start, descriptors, _, _ = socket.recv_fds(connection, _AT_ONCE, MOST_FILES)
    if not descriptors:
        raise ConnectionEndedError
    return _message(connection, start, None)[0], descriptors


def _message(connection: socket.socket, start: bytes, deadline: float | None) -> tuple[dict[str, Any], bytes]:
    """Complete the message that begins with ``start``, usually all of it."""
    while len(start) < _HEADER.size:
        start += _some(connection, _HEADER.size - len(start), deadline)
    text_length, content_length = _HEADER.unpack_from(start)
    left = _HEADER.size + text_length + content_length - len(start)
    if text_length > _LONGEST_OBJECT or content_length > _LONGEST_CONTENT or left < 0:
        raise NoMessageError
    pieces = [start]
    while left:
        pieces.append(_some(connection, min(left, _PIECE), deadline))
        left -= len(pieces[-1])
    whole = b"".join(pieces)
    return _object(whole[_HEADER.size : _HEADER.size + text_length]), whole[_HEADER.size + text_length :]


def _object(text: bytes) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoMessageError from error
    if not isinstance(message, dict):
        raise NoMessageError
    return message


def _some(connection: socket.socket, size: int, deadline: float | None) -> bytes:
    if deadline is not None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
    received = connection.recv(size)
    if not received:
        raise ConnectionEndedError
    return received
