"""The ordinary upload: a multipart body that begins with its file, as nearly every client sends it.

Django's parser takes a body apart line by line and hands its pieces through several hands. A file that stands at the
beginning, and is described in the plain words that are known here, is copied in large pieces; everything else, and
whatever follows the file, is left to that parser.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from paraph.server.incoming_body import Readable

PIECE = 256 * 1024  # bytes that are read at a time
_BOUNDARY = re.compile(r"multipart/form-data; *boundary=([\w'()+,./:=?-]{1,70})", re.ASCII)
_HEADERS = re.compile(
    rb"(?i:Content-Disposition): form-data; name=\"(\w{1,64})\"; "
    rb"filename=\"([\w ()+\x80-\xff-][\w .()+\x80-\xff-]{0,254})\"\r\n"
    rb"(?i:Content-Type): ([\w.+-]{1,64}/[\w.+-]{1,64})\r\n\r\n"
)


class FilePart(NamedTuple):
    """What the body says of a file."""

    field: str
    name: str
    content_type: str


class UploadBody:
    """The body of a request, of which a beginning has been read and may be given back."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._begun = b""

    def read(self, size: int) -> bytes:
        """At most so many bytes, none at the end."""
        if self._begun:
            piece, self._begun = self._begun[:size], self._begun[size:]
            return piece
        return self._stream.read(size)

    def give_back(self, piece: bytes) -> None:
        self._begun = piece + self._begun


def delimiter_of(content_type: str) -> bytes | None:
    """Return what stands before each part, from a plainly written Content-Type."""
    found = _BOUNDARY.fullmatch(content_type)
    return found and b"--" + found[1].encode()


def leading_file(body: UploadBody, delimiter: bytes) -> FilePart | None:
    """Return what is said of the file with which the body begins; its content comes next. None, and nothing is read,
    where the body begins otherwise."""
    begun = body.read(PIECE)
    start = len(delimiter) + 2
    headers = _HEADERS.match(begun, start) if begun.startswith(delimiter + b"\r\n") else None
    body.give_back(begun if headers is None else begun[headers.end() :])
    if headers is None:
        return None
    field, name, content_type = headers.groups()
    return FilePart(field.decode(), _decoded(name), content_type.decode().lower())


def _decoded(name: bytes) -> str:
    """Read a name in UTF-8 (RFC 7578, 5.1), or else in Latin-1, as old systems write it, which browsers take for
    Windows-1252."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("cp1252", errors="replace")


def copy_content(body: UploadBody, delimiter: bytes, write: Callable[[bytes | memoryview], object]) -> bool:
    """Write what comes before the next delimiter and its line end; the delimiter stays in the body. False where there
    is none."""
    held = len(delimiter) + 2  # bytes that may be the beginning of them
    block = body.read(PIECE)
    while (found := block.find(delimiter)) < 0:
        ready = max(len(block) - held, 0)
        write(memoryview(block)[:ready])
        more = body.read(PIECE)
        if not more:
            return False
        block = block[ready:] + more
    body.give_back(block[found:])
    write(memoryview(block)[: _without_line_end(block, found)])
    return True


def ends(body: UploadBody, delimiter: bytes) -> bool:
    """Return whether nothing is left but the last delimiter. Whatever else there is stays in the body."""
    rest = b""
    while len(rest) <= len(delimiter) + 4 and (more := body.read(PIECE)):
        rest += more
    body.give_back(rest)
    return rest in (delimiter + b"--\r\n", delimiter + b"--")


def _without_line_end(block: bytes, end: int) -> int:
    if end and block[end - 1] == ord("\n"):
        end -= 1
    return end - 1 if end and block[end - 1] == ord("\r") else end
