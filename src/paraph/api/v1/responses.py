"""Responses in JSON."""

import json
from typing import Any

from django.http import HttpResponse
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

Content = BaseModel | dict[str, Any]


def json_response(content: Content, status: int = 200) -> HttpResponse:
    """Answer with a shape, without the fields that were left out, or with an error's envelope.

    A lone surrogate, which a client may send and see quoted in a refusal, leaves as its JSON escape: Django's
    JsonResponse and pydantic refuse it.
    """
    if isinstance(content, BaseModel):  # parts of it may be as they were stored, and are right all the same
        return json_bytes(content.model_dump_json(exclude_unset=True, warnings=False).encode(), status)
    try:
        return json_bytes(to_json(content), status)
    except PydanticSerializationError:
        return json_bytes(_JSON.encode(content).encode("utf-8", "backslashreplace"), status)


def no_content() -> HttpResponse:
    """Answer that it is done, where there is nothing to show."""
    response = HttpResponse(status=204)
    del response.headers["Content-Type"]
    return response


def json_bytes(content: bytes, status: int = 200) -> HttpResponse:
    """Answer with content that is JSON in UTF-8 already."""
    return HttpResponse(content, status=status, content_type="application/json")
