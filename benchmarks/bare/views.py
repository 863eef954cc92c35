"""Three views and their addresses, which are those of the API."""

import hashlib
import os
from pathlib import Path

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchmarks.bare import rows
from paraph.storage import store


def read(_request: HttpRequest, request_id: int) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT status FROM signature_requests_signaturerequest WHERE id = %s", [request_id])
        cursor.fetchone()
    return HttpResponse(_answer(), content_type="application/json")


def create(_request: HttpRequest) -> HttpResponse:
    with transaction.atomic(), connection.cursor() as cursor:
        rows.insert(cursor)
    return HttpResponse(_answer(), status=201, content_type="application/json")


def upload(request: HttpRequest) -> HttpResponse:
    content = request.body
    digest = hashlib.sha256(content).hexdigest()
    store.put(f"documents/{os.urandom(16).hex()}.pdf", content)
    return HttpResponse(digest, status=201, content_type="application/json")


def _answer() -> bytes:
    if not _kept:
        _kept.append(Path(os.environ["PARAPH_DATA_DIR"], "answer.json").read_bytes())
    return _kept[0]


_kept: list[bytes] = []

urlpatterns = [
    path("healthz", lambda _request: HttpResponse()),
    path("api/v1/signature_requests/<int:request_id>", read),
    path("api/v1/signature_requests", create),
    path("api/v1/documents", upload),
]
