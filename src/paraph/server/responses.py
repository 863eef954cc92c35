"""Answers that are files: streamed, the one range of bytes asked for, or compressed once."""

import gzip
import re
from dataclasses import dataclass
from functools import cached_property
from mimetypes import guess_type
from typing import BinaryIO

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import content_disposition_header

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
    store that does not give it is told of before an answer begins."""

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
    """``filename``: what it is saved as. ``in_parts``: whether a range may be asked for, as the file is the same each
    time. Nothing in the file may run as if it were ours. Closes the file in the end."""
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
        """Return the gzip form, for clients that take it."""
        takes = _TAKES_GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", ""))
        response = HttpResponse(self.gzipped if takes else self.content, content_type=self._content_type)
        if takes:
            response["Content-Encoding"] = "gzip"
        patch_vary_headers(response, ("Accept-Encoding",))
        return response

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.content, compresslevel=9, mtime=0)
