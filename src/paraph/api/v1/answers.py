"""What the API answers. Django's own response checks each header and each part of the body on the way, which costs
more than a read of the API has left for it."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Answer:
    """``content`` is JSON in UTF-8."""

    content: bytes
    status_code: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


def answer(content: dict[str, Any], status: int = 200) -> Answer:
    # A lone surrogate, from wherever it came, leaves as the JSON escape that it may be.
    return Answer(_JSON.encode(content).encode("utf-8", "backslashreplace"), status)


def as_response(answer: Answer) -> HttpResponse:
    """The same for Django."""
    return HttpResponse(answer.content, status=answer.status_code, headers=answer.headers)
