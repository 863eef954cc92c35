"""A stored file as an answer: streamed, or the one range of bytes asked for."""

from mimetypes import guess_type
from typing import BinaryIO

from django.http import FileResponse, HttpRequest, HttpResponseBase, JsonResponse
from django.utils.cache import patch_cache_control
from django.utils.http import content_disposition_header

from paraph.server.byte_range import FileSlice, parse_range

_BLOCK = 1 << 18


def file_response(request: HttpRequest, file: BinaryIO, filename: str) -> HttpResponseBase:
    """``filename``: what it is saved as. Nothing in the file may run as if it were ours. Closes the file in the end."""
    size = file.seek(0, 2)
    requested = parse_range(request.headers.get("Range", ""), size)
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
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    if requested:
        response.headers["Content-Range"] = f"bytes {part.start}-{part.start + part.length - 1}/{size}"
    patch_cache_control(response, private=True, no_store=True)
    return response
