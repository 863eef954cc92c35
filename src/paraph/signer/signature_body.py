"""The body of ``POST /sign/{token}/signature``, checked::

    {"code": "123456", "consent": true, "signature": …, "initials": …, "locale": "en"}

``signature`` is ``{"type": "typed"}``, the default, or ``{"type": "drawn", "strokes": [[[x, y], …], …]}``: x and y
from 0 to 1, from the top left, at most 20,000 points. Both are divided by the same length; a client that divides each
by its own side adds ``aspect``, width / height of the drawing area. ``initials`` has the same form and stands where
the request wants initials, and only there. ``locale`` names the language in which the consent notice was accepted.
"""

from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, FailFast, Field, ValidationError

from paraph.flow.sign import Signature
from paraph.kernel.errors import DomainError
from paraph.otp.entered import six_digits
from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.models import SignatureRequest
from paraph.signer.door import MOST_POINTS

_NAMED_PROBLEMS = 3


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


class Typed(BaseModel):
    """``hand``: in which of the four hands the name is written."""

    type: Literal["typed"]
    hand: Annotated[int, Field(ge=1, le=4, strict=True)] = 1


class Drawn(BaseModel):
    type: Literal["drawn"]
    strokes: Strokes
    aspect: Annotated[float, Field(ge=0.05, le=20, strict=True, allow_inf_nan=False)] = 1.0


TypedOrDrawn = Annotated[Typed | Drawn, Field(discriminator="type")]


class SignatureBody(BaseModel):
    code: Annotated[str, Field(max_length=200)]
    consent: Annotated[bool, Field(strict=True)]
    signature: TypedOrDrawn = Typed(type="typed")
    initials: TypedOrDrawn | None = None
    locale: str | None = None


class SignatureAlone(BaseModel):
    signature: TypedOrDrawn


def read(body: dict[str, Any], request: SignatureRequest) -> Signature:
    """Raises ``DomainError("validation_error", …)`` naming the fields that are wrong."""
    try:
        checked = SignatureBody.model_validate(body)
    except ValidationError as error:
        raise DomainError("validation_error", _sentence(error)) from error
    locale = request.locale if checked.locale is None else checked.locale
    problems = list(chain(_consent(checked), _initials(checked, request), _locale(locale)))
    if problems:
        raise DomainError("validation_error", "; ".join(problems) + ".")
    return Signature(
        code=six_digits(checked.code),
        signature=checked.signature.model_dump(mode="json", exclude_defaults=True),
        initials=checked.initials.model_dump(mode="json", exclude_defaults=True) if checked.initials else None,
        locale=locale,
    )


def typed(hand: str) -> dict[str, Any]:
    """A typed name in the hand of this number, the first where there is no such hand."""
    return {"type": "typed", **({"hand": int(hand)} if hand in ("2", "3", "4") else {})}


def read_mark(signature: object) -> dict[str, Any]:
    """A signature by itself. Raises as :func:`read` does."""
    try:
        checked = SignatureAlone.model_validate({"signature": signature})
    except ValidationError as error:
        raise DomainError("validation_error", _sentence(error)) from error
    return checked.signature.model_dump(mode="json", exclude_defaults=True)


def _consent(body: SignatureBody) -> list[str]:
    return [] if body.consent else ["consent must be true: without it there is no signature"]


def _initials(body: SignatureBody, request: SignatureRequest) -> list[str]:
    if request.initials_required and body.initials is None:
        return ["initials is missing: this request wants initials on each page"]
    if body.initials is not None and not request.initials_required:
        return ["initials must be left out: this request does not want any"]
    return []


def _locale(locale: str) -> list[str]:
    return [] if locale in LOCALES else [f"locale must be one of {', '.join(LOCALES)}"]


def _sentence(error: ValidationError) -> str:
    """The first problems, each with the field that it is about."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    told = [f"{_field(problem['loc'])}: {problem['msg'][:1].lower()}{problem['msg'][1:]}" for problem in problems]
    more = f"; and {len(told) - _NAMED_PROBLEMS} more" if len(told) > _NAMED_PROBLEMS else ""
    return "; ".join(told[:_NAMED_PROBLEMS]) + more + "."


def _field(location: tuple[int | str, ...]) -> str:
    """``signature.strokes[0][2]``, without the names that pydantic gives to alternatives."""
    text = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in location if part not in ("typed", "drawn")
    )
    return text.lstrip(".")
