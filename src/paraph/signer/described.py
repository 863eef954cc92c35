"""What the reference says of the signer's endpoints, declared at each view: words, and models of bodies and answers;
and every code that they refuse with."""

import re
from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from typing import Any, ClassVar, NamedTuple, TypeVar

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
    """Return the paths in the form of an OpenAPI document, each with its operations by method: for users of our page,
    and for those who build their own. In the order of the URL map; paths that are not a signer's own come last."""
    paths: Schema = {}
    for pattern in get_resolver().url_patterns:
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        for method in ("get", "post"):
            if found := _OPERATIONS.get(f"{method.upper()} {path.removeprefix('/sign/{token}') or path}"):
                paths.setdefault(path, {})[method] = found()
    return dict(sorted(paths.items(), key=lambda each: not each[0].startswith("/sign/{token}")))


class Code(NamedTuple):
    """``when``: when it comes; ``remedy``: what a page of one's own does about it."""

    status: int
    when: str
    remedy: str


CODES = {  # in their order of precedence
    "method_not_allowed": Code(405, "The route does not answer this method.", "Use one that `Allow` names."),
    "decline_not_allowed": Code(
        403,
        "The request cannot be declined.",
        "Offer to decline only where you created the request with `decline_allowed`.",
    ),
    "not_found": Code(
        404, "The token is nobody's, or there is no such document or page.", "Use the whole `signing_url`."
    ),
    "replaced": Code(
        410,
        "The signer's address, number or channel was corrected, and a newer link was mailed.",
        "Use the `signing_url` of the newer one.",
    ),
    "unsupported_media_type": Code(
        415, "The body is not sent as JSON.", "Send it with `Content-Type: application/json`."
    ),
    "payload_too_large": Code(
        413, "The body is larger than 512 KiB.", "Send fewer points of the drawing: 2,000 are kept at most."
    ),
    "request_timeout": Code(408, "The body came too slowly.", "Send it again."),
    "already_signed": Code(
        409, "The signer has signed.", "Show that it is done, and ask for the progress from then on."
    ),
    "expired": Code(410, "The time is over, from the second of `expires_at` on.", "Create another request."),
    "not_your_turn": Code(
        409,
        "In sequential mode, somebody before has not signed.",
        "Wait for the webhook `signer.notified`, or look again later.",
    ),
    "validation_error": Code(
        422,
        "The body is no readable JSON object; a field is missing or wrong; a drawing has no line, as of taps alone; or "
        "a page of the documents cannot be shown, so that nobody can sign it. No attempt at the code is counted.",
        "Mend the field that the message names. A page that cannot be shown is named by `page_number`, `document_id` "
        "and `document` beside `code`.",
    ),
    "rate_limited": Code(
        429,
        "Too many codes were sent, or too many messages to this address or number, whoever sent them.",
        "Wait for as many seconds as `Retry-After` says. The code sent last is still valid.",
    ),
    "delivery_failed": Code(
        503,
        "The gateway did not take the message with the code, refuses its recipient, or too many others wait for it. "
        "It counts nowhere.",
        "Send a new code after `Retry-After` seconds, or by the other channel; a refused recipient is to be corrected.",
    ),
    "too_many_attempts": Code(
        429,
        "Five codes were tried, so the newest one is void. With `Retry-After`: twenty wrong ones in a day, or too many "
        "for this address, number or organization, so that none is sent or taken before, not even the right one.",
        "Send a new code; with `Retry-After`, say until when, and send one after that. `locked` is true where it is "
        "this signer who is locked.",
    ),
    "unavailable": Code(
        503,
        "The service has no time to draw a page or to send a code now, or its database or files cannot be reached.",
        "Ask again after as many seconds as `Retry-After` says.",
    ),
    "invalid_otp": Code(
        422,
        "The code is wrong, outdated, replaced or used.",
        "Ask for the code again. `attempts_left` tells how many attempts remain after a wrong one; without it the code "
        "is void, and a new one must be sent.",
    ),
    "internal_error": Code(
        500, "A fault of the service.", "Try again. Tell the operator the id in the message: it stands in the log."
    ),
}
