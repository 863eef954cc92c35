"""``GET /files/{key}?expires=…&filename=…&signature=…``: the addresses of :func:`paraph.storage.store.presign`, and of
bundles, which are made when they are asked for."""

from typing import BinaryIO

from django.http import HttpRequest, HttpResponseBase, JsonResponse

from paraph.bundle.make import bundle_of_key, open_bundle
from paraph.kernel.errors import DomainError
from paraph.server.bodies import file_response
from paraph.storage import objects, store

_STATUS = {
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "internal_error": 500,
    "unavailable": 503,
}


def download(request: HttpRequest, key: str) -> HttpResponseBase:
    """Stream the object or a range of its bytes. The signature is the only permission needed."""
    try:
        if request.method not in ("GET", "HEAD"):
            raise DomainError("method_not_allowed", "Files can only be downloaded.")
        query = request.GET
        objects.check_link(key, query.get("expires", ""), query.get("filename", ""), query.get("signature", ""))
        file = _open(key)
    except DomainError as refusal:
        body = {"error": {"code": refusal.code, "message": refusal.message}}
        return JsonResponse(body, status=_STATUS[refusal.code], headers={"Cache-Control": "no-store"})
    return file_response(request, file, query.get("filename", ""))


def _open(key: str) -> BinaryIO:
    request_id = bundle_of_key(key)
    try:
        return store.open(key) if request_id is None else open_bundle(request_id)
    except (FileNotFoundError, ValueError) as error:
        raise DomainError("not_found", "This file no longer exists.") from error
