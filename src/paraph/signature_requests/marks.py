"""Signatures and initials: the name in one of four hands, or a drawing, as a client sends them; and how they are kept.

Drawn signatures are biometric data. Each is encrypted at rest for its signer, so that no other row can hold it, and the
database or a backup shows none without the secret of the service.
"""

import json
from typing import Annotated, Any, ClassVar, Literal

from django.conf import settings
from pydantic import BaseModel, BeforeValidator, FailFast, Field, ValidationError, WithJsonSchema, model_validator
from pydantic_core import ErrorDetails

from paraph.signature_requests.localized import Sentence, TranslatedRefusal
from paraph.signature_requests.models import Signer

Example = tuple[str, dict[str, Any]]  # with its title

MOST_POINTS = 20_000  # of a drawing
LONGEST_TEXT = 200  # characters

_NAMED_PROBLEMS = 3
_WORDS = {  # by what pydantic's type of the problem begins with; all others are about strokes
    "missing": "field_missing",
    "string": "field_text",
    "bool": "field_boolean",
    "model": "field_object",
    "union": "field_choice",
    **dict.fromkeys(("float", "int", "finite", "greater", "less"), "field_number"),
}
_BOUNDS: dict[str, tuple[float, float]] = {"hand": (1, 4), "aspect": (0.05, 20)}  # of all other numbers: 0 to 1


def _counted(strokes: object) -> object:
    """Refuse too many points before anything is made of a point."""
    if isinstance(strokes, list):
        points = sum(len(stroke) for stroke in strokes if isinstance(stroke, list))
        if points > MOST_POINTS:
            raise ValueError(f"there are {points} points; at most {MOST_POINTS} are allowed")
    return strokes


# Where one entry is wrong, the others are not looked at: each problem takes a thousand times the room of its point.
Coordinate = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
_POINT = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 2, "maxItems": 2}
Point = Annotated[tuple[Coordinate, Coordinate], WithJsonSchema(_POINT)]
Stroke = Annotated[list[Point], Field(min_length=1), FailFast()]
Strokes = Annotated[list[Stroke], Field(min_length=1, max_length=MOST_POINTS), FailFast(), BeforeValidator(_counted)]


class Body(BaseModel):
    """An object in which null counts as absent, as in the bodies of the API."""

    example: ClassVar[Example]

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {name: given for name, given in value.items() if given is not None}


class Typed(Body):
    type: Literal["typed"] = Field(description="`typed`: the signer's name, written by hand.")
    hand: int = Field(1, ge=1, le=4, strict=True, description="In which of four hands.")


class Drawn(Body):
    type: Literal["drawn"] = Field(description="`drawn`: strokes, as of a pen.")
    strokes: Strokes = Field(
        description="Each a list of points [x, y], from 0 to 1, from the top left. At most 20,000 points."
    )
    aspect: float = Field(
        1,
        ge=_BOUNDS["aspect"][0],
        le=_BOUNDS["aspect"][1],
        strict=True,
        allow_inf_nan=False,
        description="Width divided by height of the area that was drawn on.",
    )


TypedOrDrawn = Annotated[Typed | Drawn, Field(discriminator="type")]


class SignatureAlone(Body):
    signature: TypedOrDrawn = Field(description="As in the signature's own body.")


def typed(hand: str) -> dict[str, Any]:
    """Return a typed name in the hand of this number, the first where there is no such hand."""
    return {"type": "typed", **({"hand": int(hand)} if hand in ("2", "3", "4") else {})}


def read_mark(signature: object) -> dict[str, Any]:
    """Return a signature that comes alone. Raise ``DomainError("validation_error", …)`` naming what is wrong."""
    try:
        checked = SignatureAlone.model_validate({"signature": signature})
    except ValidationError as error:
        raise TranslatedRefusal("validation_error", *sentences(error)) from error
    return dumped(checked.signature)


def dumped(mark: Typed | Drawn) -> dict[str, Any]:
    """Return a mark in the form that is stored."""
    return mark.model_dump(mode="json", exclude_defaults=True)


def sentences(error: ValidationError) -> list[Sentence]:
    """Return the first problems, each with the field that it is about."""
    problems = error.errors(include_url=False, include_input=False)
    told = [_sentence(problem) for problem in problems[:_NAMED_PROBLEMS]]
    return [*told, ("more", {})] if len(problems) > _NAMED_PROBLEMS else told


def _sentence(problem: ErrorDetails) -> Sentence:
    name = next((name for start, name in _WORDS.items() if problem["type"].startswith(start)), "field_strokes")
    field, (least, most) = _field(problem["loc"]), _BOUNDS.get(str(problem["loc"][-1]), (0, 1))
    if name in ("field_text", "field_strokes"):
        most = LONGEST_TEXT if name == "field_text" else MOST_POINTS
    if name == "field_choice":
        field = f"{field}.type"
    return name, {"field": field, "least": least, "most": most, "values": "typed, drawn"}


def _field(location: tuple[int | str, ...]) -> str:
    """Return a path such as ``signature.strokes[0][2]``, without the names that pydantic gives to alternatives."""
    text = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in location if part not in ("typed", "drawn")
    )
    return text.lstrip(".")


HANDWRITING = "handwriting"


def signature_of(signer: Signer) -> dict[str, Any]:
    """Return the signature: ``{"type": "typed"}`` or ``{"type": "drawn", "strokes": …}``."""
    signature = _opened(signer, "signature")
    assert signature
    return signature


def initials_of(signer: Signer) -> dict[str, Any] | None:
    """Return the initials in the form of :func:`signature_of`, None where the request wants none."""
    return _opened(signer, "initials")


def keep_marks(signer: Signer, signature: dict[str, Any] | None, initials: dict[str, Any] | None) -> None:
    """Set ``signature_encrypted`` and ``initials_encrypted``, None for an approver. Does not save the row."""
    signer.signature_encrypted = _sealed(signer, "signature", signature)
    signer.initials_encrypted = _sealed(signer, "initials", initials)


def mark_context(signer_id: int, name: str) -> bytes:
    """Return the context for which ``signature`` or ``initials`` of a signer is encrypted."""
    return f"{name} of signer {signer_id}".encode()


def _opened(signer: Signer, name: str) -> dict[str, Any] | None:
    encrypted = getattr(signer, f"{name}_encrypted")
    if encrypted is None:
        return None
    value: dict[str, Any] = json.loads(
        settings.SECRETS.decrypt(HANDWRITING, bytes(encrypted), mark_context(signer.pk, name))
    )
    return value


def _sealed(signer: Signer, name: str, value: dict[str, Any] | None) -> bytes | None:
    if value is None:
        return None
    content = json.dumps(value, separators=(",", ":")).encode()
    sealed: bytes = settings.SECRETS.encrypt(HANDWRITING, content, mark_context(signer.pk, name))
    return sealed
