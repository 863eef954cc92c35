"""Answers that are files: streamed, the one range of bytes asked for, or compressed once; the bodies of requests,
bounded in size; and files in forms: none unless a page takes them, and then in memory or in the staging area of the
store. It is for the proxy in front to see that bodies arrive quickly (docs/decisions/slow-clients.md)."""

import gzip
import math
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from io import RawIOBase
from mimetypes import guess_type
from operator import attrgetter
from typing import Any, BinaryIO, Protocol

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.core.handlers.wsgi import LimitedStream
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.storage import store
from paraph.storage.objects import StagedObject

_ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True)
class ByteRange:
    start: int
    length: int  # 0 when the range lies outside the file


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the range (RFC 9110, 14) of a file of ``size`` bytes; None where the whole file is to be sent: without a
    range, with several, or in another unit."""
    match = _ONE_RANGE.fullmatch(header.strip())
    if not match or header.strip() == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        length = min(int(last), size)
        return ByteRange(size - length, length)
    start = int(first)
    end = min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    return ByteRange(start, max(end - start + 1, 0))


_BLOCK = 1 << 18


class FileSlice:
    """``length`` bytes of a file from ``start``. Closing it closes the file. The first block is read at once, so that a
    store that fails is noticed before an answer begins."""

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        self.start, self.length = start, length
        file.seek(start)
        self._ahead = file.read(min(_BLOCK, length))
        self._file, self._left = file, length - len(self._ahead)

    def read(self, size: int = _BLOCK) -> bytes:
        block, self._ahead = self._ahead[:size], self._ahead[size:]
        if not block:
            block = self._file.read(min(size, self._left))
            self._left -= len(block)
        return block

    def close(self) -> None:
        self._file.close()


def file_response(request: HttpRequest, file: BinaryIO, filename: str, *, in_parts: bool = True) -> HttpResponseBase:
    """Return a file to be saved as ``filename``, and close it in the end. ``in_parts``: whether a range may be asked
    for, as the file is the same each time. Nothing in the file may run as if it were ours."""
    size = file.seek(0, 2)
    requested = parse_range(request.headers.get("Range", ""), size) if in_parts else None
    if requested is not None and not requested.length:
        file.close()
        return JsonResponse(
            {"error": {"code": "validation_error", "message": f"The range lies outside the file's {size} bytes."}},
            status=416,
            headers={"Content-Range": f"bytes */{size}"},
        )
    part = FileSlice(file, requested.start if requested else 0, requested.length if requested else size)
    response = FileResponse(part, status=206 if requested else 200)
    response.block_size = _BLOCK
    response.headers["Content-Type"] = guess_type(filename)[0] or "application/octet-stream"
    response.headers["Content-Length"] = str(part.length)
    response.headers["Content-Disposition"] = content_disposition_header(True, filename) or "attachment"
    response.headers["Accept-Ranges"] = "bytes" if in_parts else "none"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    if requested:
        response.headers["Content-Range"] = f"bytes {part.start}-{part.start + part.length - 1}/{size}"
    patch_cache_control(response, private=True, no_store=True)
    return response


_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")


class Compressed:
    """``content`` and its gzip form. Nothing of it may be secret, or come from a request
    (docs/decisions/compression.md)."""

    def __init__(self, content: bytes, content_type: str) -> None:
        self.content = content
        self._content_type = content_type

    def response(self, request: HttpRequest) -> HttpResponse:
        """Return the gzip form to clients that take it, the content itself to others."""
        takes = _TAKES_GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", ""))
        response = HttpResponse(self.gzipped if takes else self.content, content_type=self._content_type)
        if takes:
            response["Content-Encoding"] = "gzip"
        patch_vary_headers(response, ("Accept-Encoding",))
        return response

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.content, compresslevel=9, mtime=0)


_PIECE = 64 * 1024  # bytes that are read at a time to be thrown away


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def read_body(request: HttpRequest, limit: int) -> bytes | None:
    """Return the whole body, or None when it is larger than ``limit`` bytes. A larger body is not read if its length
    was declared; of a chunked one, one byte beyond the limit is read."""
    stream, length = body_stream(request, limit)
    if length and length > limit:
        return None
    content = stream.read(limit + 1)
    return None if len(content) > limit else content


def body_stream(request: HttpRequest, limit: int) -> tuple[Readable, int | None]:
    """Return the body as a stream, with its declared length. The length of a chunked body (RFC 9112 §7.1) is None, and
    its stream ends one byte beyond the limit at the latest.

    Django treats a body without a declared length as empty; the server provides the joined chunks in ``wsgi.input``.
    """
    declared = request.META.get("CONTENT_LENGTH", "")
    if not declared and "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        return LimitedStream(request.META["wsgi.input"], limit + 1), None
    return request, int(declared) if declared.isascii() and declared.isdigit() else 0


class IncomingBody(RawIOBase):
    """A body that may not end before its declared ``length``, which is None for a chunked one. ``left``: the bytes that
    may still come, infinitely many for a chunked body."""

    def __init__(self, stream: Readable, length: int | None) -> None:
        self._stream = stream
        self.left: float = math.inf if length is None else length

    def read(self, size: int = -1, /) -> bytes:
        """Return as many bytes as asked for, fewer only at the end. Raise ``DomainError("request_timeout", …)`` for a
        body that is cut off: its client has gone, or the proxy has cut it off for being slow."""
        block, cut = self._read(size)
        if cut:
            raise DomainError("request_timeout", _("The body of the request arrived too slowly."))
        return block

    def drain(self, most: int) -> None:
        """Read and throw away the rest, at most about ``most`` bytes; nothing of a body that announces more."""
        if most < self.left < math.inf:
            return
        while self.left and most > 0:
            self._read(_PIECE)
            most -= _PIECE

    def _read(self, size: int) -> tuple[bytes, bool]:
        """Return a block, and whether the body ended with it before its declared length."""
        wanted = min(size, self.left) if size >= 0 else self.left
        block = self._stream.read(int(wanted) if wanted < math.inf else -1)
        cut = len(block) < wanted and self.left < math.inf
        self.left = 0 if len(block) < wanted else self.left - len(block)
        return block, cut


class NoFiles(FileUploadHandler):
    """The upload handler of all pages. A page that takes files sets its own, with limits, before the body is read."""

    def new_file(self, *_described: Any, **_more: Any) -> None:
        raise StopUpload(connection_reset=True)


class StagedFile(UploadedFile):  # type: ignore[type-arg]  # it takes no type at run time
    """A file of a form. ``writer``: what took its pieces."""

    def __init__(self, writer: Any, *described: Any) -> None:
        super().__init__(*described)
        self.writer = writer


class StagedFiles(FileUploadHandler):
    """Write each file into the staging area of uploads, where it stays until ``staged`` closes. ``writer``: returns
    what takes the pieces of an object in the making, by default its file."""

    chunk_size = 256 * 1024

    def __init__(self, staged: ExitStack, writer: Callable[[StagedObject], Any] = attrgetter("file")) -> None:
        super().__init__()
        self._staged, self._writer_of = staged, writer

    def new_file(self, *described: Any, **more: Any) -> None:
        super().new_file(*described, **more)
        made = self._staged.enter_context(store.stage())
        self._file, self._writer = made.file, self._writer_of(made)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:  # noqa: ARG002  Django passes it
        self._writer.write(raw_data)

    def file_complete(self, file_size: int) -> StagedFile:
        return StagedFile(self._writer, self._file, self.file_name or "", self.content_type or "", file_size)
