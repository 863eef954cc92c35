"""Reading one file from a multipart body, as a stream: no more of it is in memory than a piece."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.translation import gettext as _

from paraph.flow.sending.upload import IncomingFile, refuse_beyond_limit
from paraph.kernel.errors import DomainError
from paraph.server.bodies import Readable, body_stream

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


_BESIDE_THE_FILE = 16 * 1024 * 1024  # bytes of other fields, and of what stands between
_TAIL = 256  # bytes: the longest boundary, its dashes and line ends


def check_type(request: HttpRequest) -> None:
    """Raise ``unsupported_media_type`` for another kind of body."""
    if request.content_type != "multipart/form-data":
        raise DomainError("unsupported_media_type", _("The Content-Type must be multipart/form-data."))


def announced_size(request: HttpRequest) -> int:
    """Return the most bytes that the file may have, by what the body says of itself; 0 where it says nothing."""
    length = request.META.get("CONTENT_LENGTH") or ""
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024
    return min(int(length), most) if length.isascii() and length.isdigit() else 0


def receive_file(request: HttpRequest, field: str, file: IncomingFile) -> FilePart:
    """Write the file of the field to ``file``. Raises ``payload_too_large`` as soon as it passes the limit,
    ``validation_error`` for a broken body, no file or more than one."""
    parts = _receive(request, file)
    named = [part for part in parts if part.field == field]
    if not named:
        message = _("The body must contain a file in the field “%(field)s”, with a file name in UTF-8.")
        raise DomainError("validation_error", message % {"field": field})
    if len(parts) > 1:
        raise DomainError("validation_error", _("The body must contain only one file."))
    return named[0]


def _receive(request: HttpRequest, file: IncomingFile) -> list[FilePart]:
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024 + _BESIDE_THE_FILE
    stream, length = body_stream(request, most)
    if length is not None and length > most:
        refuse_beyond_limit(length)  # as it says itself, before any of it is read
    body, delimiter = UploadBody(stream), delimiter_of(request.META["CONTENT_TYPE"])
    leading = leading_file(body, delimiter) if delimiter else None
    if not delimiter or not leading:
        return _parse(request, body, _Receiving(file))
    if not copy_content(body, delimiter, file.write):
        raise _broken()
    return [leading] if ends(body, delimiter) else _parse(request, body, _Receiving(file, leading))


def _parse(request: HttpRequest, body: UploadBody, handler: "_Receiving") -> list[FilePart]:
    """Return the parts of what is left of the body, and the one that came before it."""
    declared = {**request.META, "CONTENT_LENGTH": "1"}  # the parser wants one, and reads to the end
    stream = _Tail(body)
    try:
        MultiPartParser(declared, cast(Any, stream), [handler], "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation) as error:  # too many or too large fields beside the file
        raise _broken() from error
    if not stream.tail.rstrip(b"\r\n").endswith(b"--"):  # the last boundary, without which the file may be cut
        raise _broken()
    return handler.parts


def _broken() -> DomainError:
    return DomainError("validation_error", _("The multipart body is malformed."))


class _Tail:
    """The body, remembering its end."""

    def __init__(self, body: UploadBody) -> None:
        self._body = body
        self.tail = b""

    def read(self, size: int) -> bytes:
        block = self._body.read(size)
        self.tail = (self.tail + block)[-_TAIL:]
        return block


class _Receiving(FileUploadHandler):
    """Write what comes as it comes, never beyond the limit. Where there are several files all is refused later, and
    only the first one is written."""

    chunk_size = 64 * 1024

    def __init__(self, file: IncomingFile, *before: FilePart) -> None:
        super().__init__()
        self.parts = list(before)
        self._file = file

    def new_file(self, field_name: str, file_name: str, content_type: str, *_rest: Any) -> None:
        self.parts.append(FilePart(field_name, file_name, content_type.lower()))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        refuse_beyond_limit(start + len(raw_data))
        if len(self.parts) == 1:
            self._file.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """Nothing is left to do."""
