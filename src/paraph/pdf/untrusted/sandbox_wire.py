"""The protocol between the service and its sandboxed processes: length-prefixed messages over a socket pair.

A message is a header (both lengths), a JSON object and raw bytes. The files to read travel beside the first bytes as
descriptors, so their bytes are copied once, into memory that both sides map. A sandboxed process is untrusted: only
JSON is accepted, lengths are capped, nothing is unpickled. Dataclasses travel as JSON by the types of their fields.
"""

import json
import os
import resource
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import GenericAlias
from typing import Any, BinaryIO, NamedTuple, TypeVar

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import to_jsonable_python

JobAnswer = tuple[dict[str, Any], bytes]
"""What a job answers: values for JSON, and bytes."""

_HEADER = struct.Struct("!IQ")
_AT_ONCE = 64 << 10
_PIECE = 1 << 20
_LONGEST_OBJECT = 64 << 20
_LONGEST_CONTENT = 256 << 20
MOST_FILES = 253  # descriptors that Linux passes with one message
Value = TypeVar("Value")
_EXACT = ConfigDict(strict=True, extra="forbid", val_json_bytes="base64")
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class ResourcesUsed(NamedTuple):
    """What a process has used in its life: ``processor`` in seconds, peak memory in bytes."""

    processor: float = 0.0
    peak: int = 0

    @classmethod
    def of(cls, usage: resource.struct_rusage) -> "ResourcesUsed":
        return cls(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT)


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
    """Return the next message and the descriptors that came with it. Raise as :func:`receive` does."""
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
    if not (received := connection.recv(size)):
        raise ConnectionEndedError
    return received


@contextmanager
def open_descriptor(pdf: bytes | BinaryIO) -> Iterator[int]:
    """Yield a read-only descriptor of the file; bytes are put into a memory file first."""
    if not isinstance(pdf, bytes):
        pdf.flush()
        descriptor = os.open(f"/dev/fd/{pdf.fileno()}", os.O_RDONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
        return
    with memory_file() as file:
        file.write(pdf)
        file.seek(0)
        yield file.fileno()


def memory_file() -> BinaryIO:
    """Open a new file in memory; where the system has none, on disk."""
    return os.fdopen(os.memfd_create("pdf"), "r+b") if hasattr(os, "memfd_create") else tempfile.TemporaryFile()


def to_plain(value: Any) -> Any:
    """Return the value as :mod:`json` can write it: all fields of a dataclass, bytes as base64, times as ISO 8601."""
    return to_jsonable_python(value, bytes_mode="base64")


def from_plain(kind: type[Value], plain: Any) -> Value:
    """Reverse :func:`to_plain`. Raise ``ValueError`` for anything that is no value of the type ``kind``."""
    text = json.dumps([plain], ensure_ascii=False).encode("utf-8", "replace")  # a surrogate alone is no character
    wanted: Any = kind
    value: tuple[Value] = reader_of(wanted).validate_json(text)
    return value[0]


@cache
def reader_of(kind: Any) -> TypeAdapter[Any]:
    """Return a reader of a tuple of one value of the type ``kind``, since pydantic takes no configuration for a lone
    dataclass. Must be called for each type while files can still be opened."""
    alone: Any = GenericAlias(tuple, (kind,))
    return TypeAdapter(alone, config=_EXACT)
