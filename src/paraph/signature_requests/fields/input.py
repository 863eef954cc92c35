"""Fields of a payload: what a signer fills in on a document; and their attributes, checked against their type and
against each other."""

from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import BeforeValidator, Field, PlainValidator, SkipValidation, WithJsonSchema

from paraph.signature_requests.fields.kinds import KINDS, LONGEST_TEXT, drawable, entered, is_blank
from paraph.signature_requests.models import LONGEST_FIELD_NAME, LONGEST_LABEL
from paraph.signature_requests.models import Field as FieldRow
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import (
    TEXT,
    Input,
    InvalidValueError,
    LongText,
    OrNull,
    Page,
    Point,
    choice,
    integer,
    number,
    text,
)

MOST_FIELDS = 50  # of a signer on a document
MOST_FIELDS_OF_REQUEST = 1000
OPTIONS = (2, 50)
FONT_SIZES = (6.0, 24.0)
SMALLEST_SIDE = 8.0

_NULL = {"type": "null"}

FieldKind = Annotated[
    str, PlainValidator(partial(choice, values=KINDS)), WithJsonSchema({"enum": list(KINDS), "type": "string"})
]
FieldName = Annotated[
    str,
    PlainValidator(partial(text, longest=LONGEST_FIELD_NAME)),
    WithJsonSchema({**TEXT, "maxLength": LONGEST_FIELD_NAME}),
]
Label = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_LABEL)), WithJsonSchema({**TEXT, "maxLength": LONGEST_LABEL})
]
Side = Annotated[
    float,
    PlainValidator(partial(number, minimum=SMALLEST_SIDE)),
    WithJsonSchema({"type": "number", "minimum": SMALLEST_SIDE, "exclusiveMaximum": 1e9}),
]


# What it must be depends on the type of its field.
PrefilledValue = Annotated[
    str | bool | None,
    SkipValidation,
    WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, {"type": "boolean"}, _NULL]}),
]
Bound = Annotated[
    str | float | None,
    SkipValidation,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 1 - 10**15, "maximum": 10**15 - 1},
                {"type": "string", "format": "date"},
                _NULL,
            ]
        }
    ),
]


def _options(value: object) -> list[str]:
    """Read the options of a choice."""
    least, most = OPTIONS
    if not isinstance(value, list):
        raise InvalidValueError(_("it must be an array."))
    if not least <= len(value) <= most:
        facts = {"least": least, "most": most, "count": len(value)}
        raise InvalidValueError(_("it must have from %(least)d to %(most)d entries, not %(count)d.") % facts)
    options = [_option(option) for option in value]
    if len(set(options)) < len(options):
        raise InvalidValueError(_("each option must be another."))
    return options


def _option(value: object) -> str:
    """Read an option as it is drawn: two that look alike are the same."""
    option = drawable(text(value))
    if is_blank(option):
        raise InvalidValueError(_("it must not be empty."))
    return option


Options = Annotated[
    list[str],
    PlainValidator(_options),
    WithJsonSchema(
        {
            "type": "array",
            "items": {**TEXT, "maxLength": 200},
            "minItems": OPTIONS[0],
            "maxItems": OPTIONS[1],
            "uniqueItems": True,
        }
    ),
]


class FieldTag(Input):
    """Where a field goes: just under this text, centred on it."""

    tag: LongText = Field(
        description="Text that stands verbatim in the PDF, as that of a stamp. Used once per signer and document, for "
        "a stamp or a field.",
        examples=["{{text:tenant:IBAN}}"],
    )
    width: Side | None = Field(None, description="Points; 160 by default, 12 for a checkbox. At most the page's.")
    height: Side | None = Field(None, description="Points; 18 by default, 12 for a checkbox. At most the page's.")


class FieldRectangle(Input):
    """Where a field goes, in points of the page as a reader sees it, origin at the bottom left. It must fit inside the
    page."""

    page_number: Page = Field(description="From 1. The page must exist.")
    x: Point = Field(description="Points from the left edge of the page to that of the field.")
    y: Point = Field(description="Points from the bottom edge of the page to that of the field.")
    width: Side | None = Field(None, description="Points; 160 by default, 12 for a checkbox.")
    height: Side | None = Field(None, description="Points; 18 by default, 12 for a checkbox.")


class MagicFieldPlacement(Input):
    """A field just under a tag in the text, centred on it and moved sideways into the page."""

    type: Literal["magic_field"] = Field(description="`magic_field`: the place is found by a text.")
    value: FieldTag


class CoordinatesPlacement(Input):
    """A field at a place given in points."""

    type: Literal["coordinates"] = Field(description="`coordinates`: the place is given in points.")
    value: FieldRectangle


FieldPlacement = Annotated[MagicFieldPlacement | CoordinatesPlacement, Field(discriminator="type")]


class FieldInput(Input):
    """A field that the signer fills in before signing, or that the service fills. An attribute that a type does not
    have is refused."""

    name: FieldName = Field(description="Unique for the signer on this document.", examples=["IBAN"])
    type: FieldKind = Field(
        description="The service fills `signed_on`, the date of the signature in UTC, `full_name` and `email`; the "
        "signer the others."
    )
    label: Label | None = Field(None, description="What the signer reads; `name` by default.")
    required: Annotated[bool, OrNull] = Field(
        True, description="A required checkbox must be ticked. Not for types that the service fills."
    )
    value: PrefilledValue = Field(
        None,
        description="Counts where the signer enters none: a string, of a checkbox a boolean. A date as `YYYY-MM-DD`, "
        "a number as a string with a point, such as `1250.50`. Not for types that the service fills.",
    )
    read_only: Annotated[bool, OrNull] = Field(
        False, description="The signer cannot change `value`, which is needed. Not for types that the service fills."
    )
    options: Options | None = Field(None, description="Of a `choice`, and required there.")
    max_length: (
        Annotated[int, Field(ge=1, le=LONGEST_TEXT), BeforeValidator(partial(integer, maximum=LONGEST_TEXT))] | None
    ) = Field(None, description="Of `text` and `multiline`, where it is 200 and 2000 by default.")
    minimum: Bound = Field(None, description="Of a `number`, a number; of a `date`, a date as `YYYY-MM-DD`.")
    maximum: Bound = Field(None, description="As `minimum`, and not below it.")
    font_size: Annotated[
        float,
        Field(ge=FONT_SIZES[0], le=FONT_SIZES[1]),
        BeforeValidator(partial(number, minimum=FONT_SIZES[0], maximum=FONT_SIZES[1])),
        OrNull,
    ] = Field(10.0, description="Points. Text that does not fit is set smaller, down to 6, and refused beyond that.")
    placement: FieldPlacement = Field(description="Where it stands.")


_OF_TYPES = ("required", "value", "read_only", "options", "max_length", "minimum", "maximum")
"""Attributes that not all types have."""


def check_field(given: FieldInput, path: str, problems: Problems) -> None:
    """Add a problem for each attribute that the type does not have and for what does not fit together. A part that
    could not be read, None, is not judged."""
    if given.type is None:
        return
    for name in _OF_TYPES:
        if name in given.model_fields_set and getattr(given, name) is not None and not _has(given, name):
            sentence = _("a field of type %(type)s has no such attribute.")
            problems.add(f"{path}.{name}", sentence % {"type": given.type})
    if KINDS[given.type].attributes:
        _check_values(given, path, problems)


def row_of(given: FieldInput) -> FieldRow:
    """Return the row of a field that was checked, without its place and what it belongs to. The value that the sender
    gave has the form in which it is kept."""
    alike = ("name", "type", "required", "read_only", "options", "max_length", "font_size")
    row = FieldRow(**{name: getattr(given, name) for name in alike}, label=given.label or given.name)
    row.minimum, row.maximum = _bound(given, given.minimum), _bound(given, given.maximum)
    if given.value is not None:
        row.value = entered(row, given.value)
    return row


def _has(given: FieldInput, name: str) -> bool:
    return name in KINDS[given.type].attributes


def _check_values(given: FieldInput, path: str, problems: Problems) -> None:
    if _has(given, "options") and given.options is None and not problems.has_below(f"{path}.options"):
        problems.add(f"{path}.options", _("it is required, as type is %(type)s.") % {"type": given.type})
    if given.read_only and given.value is None:
        problems.add(f"{path}.value", _("it is required, as read_only is true."))
    if _has(given, "minimum") and not _bounds_fit(given, path, problems):
        return
    if given.value is not None and not problems.has_below(path):
        try:
            row_of(given)
        except InvalidValueError as invalid:
            problems.add(f"{path}.value", str(invalid))


def _bounds_fit(given: FieldInput, path: str, problems: Problems) -> bool:
    """Judge each bound as a value of the type is judged, and both together."""
    bounds: dict[str, Any] = {}
    for name in ("minimum", "maximum"):
        bound = getattr(given, name)
        if bound is None:
            continue
        try:
            bounds[name] = _read_bound(given, bound)
        except InvalidValueError as invalid:
            problems.add(f"{path}.{name}", str(invalid))
            return False
    if len(bounds) == 2 and bounds["minimum"] > bounds["maximum"]:
        sentence = _("it must not be below the minimum, %(least)s.")
        problems.add(f"{path}.maximum", sentence % {"least": _bound(given, given.minimum)})
        return False
    return True


def _read_bound(given: FieldInput, bound: object) -> Decimal | str:
    if not KINDS[given.type].is_number:
        return str(entered(FieldRow(type=given.type), bound))
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise InvalidValueError(_("it must be a number."))
    return Decimal(str(entered(FieldRow(type=given.type), _bound(given, bound))))


def _bound(given: FieldInput, bound: str | float | None) -> Any:
    """Return a bound as rows have it."""
    if bound is None:
        return ""
    return f"{Decimal(repr(bound)):f}" if KINDS[given.type].is_number else bound
