"""What an operation of the API says of itself, at the function that answers it. The URL map and the OpenAPI document
are read from that."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from pydantic import BaseModel

from paraph.api.v1.codes import ANY

DocumentPart = dict[str, Any]
Function = Callable[..., HttpResponse]


@dataclass(frozen=True)
class Body:
    """``more``: what the document says of its media type besides."""

    schema: type[BaseModel] | DocumentPart
    description: str
    required: bool = True
    media: str = "application/json"
    more: DocumentPart | None = None


@dataclass(frozen=True)
class Operation:
    """A function of the API. ``path`` begins after ``/api/v1``. ``answers``: the shape of the one answer that is no
    refusal, ``None`` where that has no body; ``answered`` says what it is."""

    function: Function
    name: str
    method: str
    path: str
    answers: type[BaseModel] | None
    answered: str
    status: int
    accepts: tuple[DocumentPart, ...]
    body: Body | None
    refuses: tuple[str, ...]

    def __call__(self, *call: Any, **ids: int) -> HttpResponse:
        return self.function(*call, **ids)

    @property
    def parameters(self) -> list[str]:
        """The names of those of the query."""
        return [each["name"] for each in self.accepts if each["in"] == "query"]

    @property
    def summary(self) -> str:
        """The first line of the function's docstring; what follows is the description."""
        return self._words()[0].rstrip(".")

    @property
    def description(self) -> str:
        return " ".join(self._words()[1].split())

    def _words(self) -> tuple[str, str]:
        summary, _, description = (inspect.getdoc(self.function) or "").partition("\n\n")
        return summary, description


def operation(
    name: str,
    route: str,
    answers: type[BaseModel] | None,
    answered: str,
    *,
    status: int = 200,
    accepts: Iterable[DocumentPart] = (),
    body: Body | None = None,
    refuses: Iterable[str] = (),
) -> Callable[[Function], Operation]:
    """Make a function an operation. ``route``: such as ``GET /documents/{document_id}``. ``accepts``: the parameters of
    query and header; others of the query are ignored, but for those that look misspelt. ``refuses``: codes, or the
    names of refusals in ``openapi/examples.json``, but for what any call may meet and, where there is an id,
    ``not_found``."""
    method, path = route.split()
    refused = (*ANY, *refuses, *(["not_found"] if "{" in path else []))

    def declare(function: Function) -> Operation:
        return Operation(function, name, method, path, answers, answered, status, tuple(accepts), body, refused)

    return declare


def query(name: str, description: str, **schema: Any) -> DocumentPart:
    """Return a parameter of the query."""
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


KEY: DocumentPart = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of your choice, new for each thing to do, such as a UUID. Sent again with the same content "
    "within 24 hours, the call does nothing: it is answered with what the first one made or changed, and the header "
    "`Idempotent-Replayed`. So a call whose answer was lost can be sent again.",
    "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 255},
    "example": "6f1a2c1e-9d53-4a7e-8a53-2f6d1f2a7c11",
}
