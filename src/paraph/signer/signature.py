"""``POST /sign/{token}/signature``, whose body is::

    {"code": "123456", "consent": true, "signature": …, "initials": …, "locale": "en"}

``signature`` is ``{"type": "typed"}``, the default, or ``{"type": "drawn", "strokes": [[[x, y], …], …]}``: x and y
from 0 to 1, from the top left, at most 20,000 points. Both are divided by the same length; a client that divides each
by its own side adds ``aspect``, width / height of the drawing area. ``initials`` has the same form and stands where
the request wants initials, and only there. ``locale`` names the language in which the consent notice was accepted. An
optional field that is null counts as absent.
"""

from itertools import chain
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel, BeforeValidator, FailFast, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from paraph.flow.signing.sign import Signature, sign
from paraph.kernel import clock
from paraph.otp.codes import six_digits
from paraph.server.client_address import origin
from paraph.signature_requests import copy_ticket
from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signature_requests.translated_refusal import Sentence, TranslatedRefusal
from paraph.signer import answers
from paraph.signer.authentication import MOST_POINTS, posted

_NAMED_PROBLEMS = 3
_LONGEST = 200  # characters of a code
_WORDS = {  # by what pydantic's type of the problem begins with; all others are about strokes
    "missing": "field_missing",
    "string": "field_text",
    "bool": "field_boolean",
    "model": "field_object",
    "union": "field_choice",
    "float": "field_number",
    "int": "field_number",
    "finite": "field_number",
    "greater": "field_number",
    "less": "field_number",
}
_BOUNDS: dict[str, tuple[float, float]] = {"hand": (1, 4), "aspect": (0.05, 20)}  # of all other numbers: 0 to 1


def _counted(strokes: object) -> object:
    """Before anything is made of a point."""
    if isinstance(strokes, list):
        points = sum(len(stroke) for stroke in strokes if isinstance(stroke, list))
        if points > MOST_POINTS:
            raise ValueError(f"there are {points} points; at most {MOST_POINTS} are allowed")
    return strokes


# Where one entry is wrong, the others are not looked at: each problem takes a thousand times the room of its point.
Coordinate = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Stroke = Annotated[list[tuple[Coordinate, Coordinate]], Field(min_length=1), FailFast()]
Strokes = Annotated[list[Stroke], Field(min_length=1, max_length=MOST_POINTS), FailFast(), BeforeValidator(_counted)]


class Body(BaseModel):
    """An object in which null counts as absent, as in the bodies of the API."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {name: given for name, given in value.items() if given is not None}


class Typed(Body):
    """``hand``: in which of the four hands the name is written."""

    type: Literal["typed"]
    hand: Annotated[int, Field(ge=1, le=4, strict=True)] = 1


class Drawn(Body):
    type: Literal["drawn"]
    strokes: Strokes
    aspect: Annotated[
        float, Field(ge=_BOUNDS["aspect"][0], le=_BOUNDS["aspect"][1], strict=True, allow_inf_nan=False)
    ] = 1.0


TypedOrDrawn = Annotated[Typed | Drawn, Field(discriminator="type")]


class SignatureBody(Body):
    code: Annotated[str, Field(max_length=_LONGEST)]
    consent: Annotated[bool, Field(strict=True)]
    signature: TypedOrDrawn = Typed(type="typed")
    initials: TypedOrDrawn | None = None
    locale: str | None = None


class SignatureAlone(Body):
    signature: TypedOrDrawn


def read(body: dict[str, Any], request: SignatureRequest) -> Signature:
    """Raise ``DomainError("validation_error", …)`` naming the fields that are wrong."""
    try:
        checked = SignatureBody.model_validate(body)
    except ValidationError as error:
        raise TranslatedRefusal("validation_error", *_sentences(error)) from error
    locale = request.locale if checked.locale is None else checked.locale
    problems = list(chain(_consent(checked), _initials(checked, request), _locale(locale)))
    if problems:
        raise TranslatedRefusal("validation_error", *problems)
    return Signature(
        code=six_digits(checked.code),
        signature=checked.signature.model_dump(mode="json", exclude_defaults=True),
        initials=checked.initials.model_dump(mode="json", exclude_defaults=True) if checked.initials else None,
        locale=locale,
    )


def typed(hand: str) -> dict[str, Any]:
    """Return a typed name in the hand of this number, the first where there is no such hand."""
    return {"type": "typed", **({"hand": int(hand)} if hand in ("2", "3", "4") else {})}


def read_mark(signature: object) -> dict[str, Any]:
    """Return a signature by itself. Raises as :func:`read` does."""
    try:
        checked = SignatureAlone.model_validate({"signature": signature})
    except ValidationError as error:
        raise TranslatedRefusal("validation_error", *_sentences(error)) from error
    return checked.signature.model_dump(mode="json", exclude_defaults=True)


def _consent(body: SignatureBody) -> list[Sentence]:
    return [] if body.consent else [("consent", {"field": "consent"})]


def _initials(body: SignatureBody, request: SignatureRequest) -> list[Sentence]:
    if request.initials_required and body.initials is None:
        return [("field_missing", {"field": "initials"})]
    if body.initials is not None and not request.initials_required:
        return [("field_surplus", {"field": "initials"})]
    return []


def _locale(locale: str) -> list[Sentence]:
    return [] if locale in LOCALES else [("field_choice", {"field": "locale", "values": ", ".join(LOCALES)})]


def _sentences(error: ValidationError) -> list[Sentence]:
    """Return the first problems, each with the field that it is about."""
    problems = error.errors(include_url=False, include_input=False)
    told = [_sentence(problem) for problem in problems[:_NAMED_PROBLEMS]]
    return [*told, ("more", {})] if len(problems) > _NAMED_PROBLEMS else told


def _sentence(problem: ErrorDetails) -> Sentence:
    name = next((name for start, name in _WORDS.items() if problem["type"].startswith(start)), "field_strokes")
    field, (least, most) = _field(problem["loc"]), _BOUNDS.get(str(problem["loc"][-1]), (0, 1))
    if name in ("field_text", "field_strokes"):
        most = _LONGEST if name == "field_text" else MOST_POINTS
    if name == "field_choice":
        field = f"{field}.type"
    return name, {"field": field, "least": least, "most": most, "values": "typed, drawn"}


def _field(location: tuple[int | str, ...]) -> str:
    """``signature.strokes[0][2]``, without the names that pydantic gives to alternatives."""
    text = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in location if part not in ("typed", "drawn")
    )
    return text.lstrip(".")


@posted
def signature(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> HttpResponse:
    """Body: :mod:`paraph.signer.signature`. Who may not sign is told so before their body is looked at. The header
    ``X-Copy-Ticket`` lets the page that signed download the sealed files for a quarter of an hour."""
    require_open(signer)
    signed = sign(signer, read(body, signer.request), origin(request))
    assert signed.signed_at
    response = answers.answer(
        {
            "status": signed.status,
            "signed_at": clock.iso(signed.signed_at),
            "signature_request": {"id": signed.request_id, "status": signed.request.status},
        }
    )
    response["X-Copy-Ticket"] = copy_ticket.ticket(signed, copy_ticket.AFTER_SIGNING)
    return response
