"""Bodies of no declared length, as clients send that stream them. The server has undone the chunks."""

import io
import json
from typing import Any

from django.test import RequestFactory

from paraph.api.v1 import body
from tests.api.v1.api_clients import CONTRACT, ApiClient
from tests.api.v1.test_upload_document import multipart, pdf_part
from tests.production import respond


def send(owner: ApiClient, path: str, content: bytes, content_type: str) -> tuple[int, dict[str, Any]]:
    environ = RequestFactory().generic("POST", path, content_type=content_type).environ
    environ |= {"wsgi.input": io.BytesIO(content), "HTTP_TRANSFER_ENCODING": "chunked"}
    environ |= {"CONTENT_TYPE": content_type, "HTTP_X_API_KEY": owner.api_key}
    environ.pop("CONTENT_LENGTH", None)
    response = respond(environ)
    return response.status_code, json.loads(response.content)


def test_an_upload(owner: ApiClient) -> None:
    content = multipart((pdf_part(), CONTRACT))
    status, answer = send(owner, "/api/v1/documents", content, "multipart/form-data; boundary=x")
    assert status == 201
    assert answer["file_size"] == len(CONTRACT)


def test_an_upload_over_the_limit(owner: ApiClient, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"upload_limit_mb": 1})
    content = multipart((pdf_part(), CONTRACT + b" " * 1024 * 1024))
    status, answer = send(owner, "/api/v1/documents", content, "multipart/form-data; boundary=x")
    assert (status, answer["error"]["code"]) == (413, "payload_too_large")


def test_json(owner: ApiClient) -> None:
    status, answer = send(owner, "/api/v1/signature_requests", b'{"signature_request": {}}', "application/json")
    assert status == 422
    assert "mode: it is required." in answer["error"]["message"]


def test_json_over_the_limit(owner: ApiClient) -> None:
    content = b'{"signature_request": "' + b"x" * body.LARGEST + b'"}'
    status, answer = send(owner, "/api/v1/signature_requests", content, "application/json")
    assert (status, answer["error"]["code"]) == (413, "payload_too_large")
