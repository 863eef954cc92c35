"""What the reference says of the signer's endpoints, declared at each view: words, and models of bodies and answers."""

import re
from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from typing import Any, ClassVar, TypeVar

from django.urls import get_resolver
from pydantic import BaseModel

from paraph.signature_requests.marks import Body, Example
from paraph.signature_requests.plain_schema import Schema, plain_schema

View = TypeVar("View", bound=Callable[..., Any])

DRAWN = {"type": "drawn", "strokes": [[[0.1, 0.3], [0.4, 0.1], [0.5, 0.35], [0.9, 0.2]]]}
LOCALE = "The language of the answer: one of the twenty."
ABSENT: Any = None  # a field that some answers do not have

_OPERATIONS: dict[str, Callable[[], Schema]] = {}


class Answer(BaseModel):
    """An answer, or a part of one; what is not set is not answered."""

    example: ClassVar[Example]


def described(
    route: str,
    name: str,
    answered: str,
    answer: type[Answer] | str,
    *,
    body: type[Body] | None = None,
    query: tuple[Schema, ...] = (),
    text: str = "",
) -> Callable[[View], View]:
    """Declare what a view does at a route, such as ``POST /otp`` for one below the signing link. ``answer``: the model
    of its JSON, or a media type. A form, which is answered with a page, leads back to its address. ``text``: summary
    and description, where these are not the view's docstring."""

    def operation(summary: str, description: str) -> Schema:
        is_form = body is not None and answer == "text/html"
        content = {answer: {}} if isinstance(answer, str) else _json(answer, plain_schema(answer, "serialization"))
        media = "application/x-www-form-urlencoded" if is_form else "application/json"
        return {
            "operationId": name,
            "summary": summary.removesuffix("."),
            "description": description,
            "parameters": list(query),
            "responses": {"303" if is_form else "200": {"description": answered, "content": content}},
            **({"requestBody": {"content": _json(body, plain_schema(body), media)}} if body else {}),
        }

    def declared(view: View) -> View:
        summary, _, description = (text or cleandoc(view.__doc__ or "")).partition("\n\n")
        _OPERATIONS[route] = partial(operation, summary, description)
        return view

    return declared


def _json(model: type[Answer | Body], schema: Schema, media: str = "application/json") -> Schema:
    title, value = model.example
    return {media: {"schema": schema, "examples": {"example": {"summary": title, "value": value}}}}


def query(name: str, description: str, *, required: bool = False, **schema: Any) -> Schema:
    return {"name": name, "description": description, "required": required, "schema": {"type": "string", **schema}}


LANG = query(
    "lang",
    "The language: one of the twenty. Else the one that the request was created in, else the browser's.",
    examples=["fr"],
)


def signer_paths() -> Schema:
    """Return the paths in the form of an OpenAPI document, each with its operations by method: for the page as it is,
    and for those who build one of their own. In the order of the URL map; what is no signer's own is last."""
    paths: Schema = {}
    for pattern in get_resolver().url_patterns:
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        for method in ("get", "post"):
            if found := _OPERATIONS.get(f"{method.upper()} {path.removeprefix('/sign/{token}') or path}"):
                paths.setdefault(path, {})[method] = found()
    return dict(sorted(paths.items(), key=lambda each: not each[0].startswith("/sign/{token}")))
