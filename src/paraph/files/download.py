"""``GET /files/{key}?expires=…&filename=…&signature=…``: the addresses of :func:`paraph.storage.store.presign`."""

from mimetypes import guess_type
from typing import BinaryIO

from django.http import FileResponse, HttpRequest, HttpResponseBase, JsonResponse
from django.utils.cache import patch_cache_control
from django.utils.http import content_disposition_header

from paraph.files.byte_range import FilePart, parse_range
from paraph.kernel.errors import DomainError
from paraph.storage import presign, store

_STATUS = {"forbidden": 403, "not_found": 404, "method_not_allowed": 405}
_BLOCK = 1 << 18


def download(request: HttpRequest, key: str) -> HttpResponseBase:
    """Streams the object or a range of its bytes. The signature is the only permission needed."""
    try:
        if request.method not in ("GET", "HEAD"):
            raise DomainError("method_not_allowed", "Files can only be downloaded.")
        query = request.GET
        presign.check_link(key, query.get("expires", ""), query.get("filename", ""), query.get("signature", ""))
        file = _open(key)
    except DomainError as refusal:
        body = {"error": {"code": refusal.code, "message": refusal.message}}
        return JsonResponse(body, status=_STATUS[refusal.code], headers={"Cache-Control": "no-store"})
    return _respond(request, file, query.get("filename", ""))


def _open(key: str) -> BinaryIO:
    try:
        return store.open(key)
    except (FileNotFoundError, ValueError) as error:
        raise DomainError("not_found", "This file does not exist any more.") from error


def _respond(request: HttpRequest, file: BinaryIO, filename: str) -> HttpResponseBase:
    size = file.seek(0, 2)
    requested = parse_range(request.headers.get("Range", ""), size)
    if requested is not None and not requested.length:
        file.close()
        return JsonResponse(
            {"error": {"code": "validation_error", "message": f"The range lies outside the file's {size} bytes."}},
            status=416,
            headers={"Content-Range": f"bytes */{size}"},
        )
    part = FilePart(file, requested.start if requested else 0, requested.length if requested else size)
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
