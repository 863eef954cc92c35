"""Responses in JSON."""

import json
from typing import Any

from django.http import HttpResponse
from pydantic_core import PydanticSerializationError, to_json

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_response(content: dict[str, Any], status: int = 200) -> HttpResponse:
    """A lone surrogate, which a client may send and see quoted in a refusal, leaves as its JSON escape: Django's
    JsonResponse and pydantic refuse it."""
    try:
        return json_bytes(to_json(content), status)
    except PydanticSerializationError:
        return json_bytes(_JSON.encode(content).encode("utf-8", "backslashreplace"), status)


def json_bytes(content: bytes, status: int = 200) -> HttpResponse:
    """A response whose content is JSON in UTF-8 already."""
    return HttpResponse(content, status=status, content_type="application/json")
