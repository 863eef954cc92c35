"""What the values of payloads are, as they are read and as OpenAPI publishes them.

Strict: a string is no number and ``"true"`` is not true. Unknown fields are ignored. An optional field that is null
counts as absent.
"""

from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema

from paraph.signature_requests.problems import Flood
from paraph.signature_requests.values import (
    LARGEST_ID,
    LONGEST_EMAIL,
    LONGEST_METADATA,
    LONGEST_NAME,
    LONGEST_URL,
    MOST_METADATA,
    email,
    https_url,
    integer,
    metadata,
    number,
    page_url,
    phone,
    text,
)

MOST_ORDER = MOST_PAGES = 2**31 - 1
MOST_VALIDITY_DAYS = 90
WIDTHS = (80.0, 400.0)
HEIGHTS = (30.0, 160.0)
LONGEST_TAG = 500
LONGEST_REASON = 500

PRINTABLE = r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]"
_VISIBLE = PRINTABLE.replace("[^", r"[^\s")
TEXT = {"type": "string", "minLength": 1, "pattern": rf"^{PRINTABLE}*{_VISIBLE}{PRINTABLE}*$"}
_EMAIL = {"type": "string", "format": "email", "minLength": 3, "maxLength": LONGEST_EMAIL}
_PHONE = {"type": "string", "pattern": r"^\+[1-9][0-9]{1,14}$", "minLength": 3, "maxLength": 16}
_URL = {"type": "string", "format": "uri", "pattern": "^https://", "maxLength": LONGEST_URL}
_PAGE_URL = {**_URL, "pattern": "^(https://|http://localhost)"}
METADATA = {
    "type": "object",
    "maxProperties": MOST_METADATA,
    "propertyNames": {"type": "string", "pattern": "^[A-Za-z0-9_.-]+$", "minLength": 1, "maxLength": 40},
    "additionalProperties": {"type": "string", "pattern": f"^{PRINTABLE}*$", "maxLength": LONGEST_METADATA},
}


class _Nullable:
    """Mark an optional field with a default that may be null, which counts as absent."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [handler(schema), {"type": "null"}]}


OrNull = _Nullable()


def _counted(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Read an entry of an array, unless more is wrong already than is named: a hostile payload is wrong all over."""
    flood: Flood = info.context or Flood()
    if flood.full:
        return None
    before = flood.problems
    try:
        return read(value)
    except ValidationError as error:
        flood.problems = before + error.error_count()  # those of entries within it are among them
        raise


Shape = TypeVar("Shape")
Entry = Annotated[Shape, WrapValidator(_counted)]

Text = Annotated[str, PlainValidator(text), WithJsonSchema({**TEXT, "maxLength": LONGEST_NAME})]
LongText = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_TAG)), WithJsonSchema({**TEXT, "maxLength": LONGEST_TAG})
]
Reason = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_REASON)), WithJsonSchema({**TEXT, "maxLength": LONGEST_REASON})
]
Email = Annotated[str, PlainValidator(email), WithJsonSchema(_EMAIL)]
Phone = Annotated[str, PlainValidator(phone), WithJsonSchema(_PHONE)]
HttpsUrl = Annotated[str, PlainValidator(https_url), WithJsonSchema(_URL)]
PageUrl = Annotated[str, PlainValidator(page_url), WithJsonSchema(_PAGE_URL)]
Metadata = Annotated[dict[str, str], PlainValidator(metadata), WithJsonSchema(METADATA)]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID, json_schema_extra={"format": "int64"}), BeforeValidator(integer)]
Days = Annotated[int, Field(ge=1, le=MOST_VALIDITY_DAYS), BeforeValidator(partial(integer, maximum=MOST_VALIDITY_DAYS))]
Order = Annotated[int, Field(ge=1, le=MOST_ORDER), BeforeValidator(partial(integer, maximum=MOST_ORDER))]
Page = Annotated[int, Field(ge=1, le=MOST_PAGES), BeforeValidator(partial(integer, maximum=MOST_PAGES))]
# Negative ones are refused where the stamp is placed, with a sentence that names the page.
Point = Annotated[
    float, PlainValidator(number), WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 1e9})
]
Width = Annotated[
    float, Field(ge=WIDTHS[0], le=WIDTHS[1]), BeforeValidator(partial(number, minimum=WIDTHS[0], maximum=WIDTHS[1]))
]
Height = Annotated[
    float,
    Field(ge=HEIGHTS[0], le=HEIGHTS[1]),
    BeforeValidator(partial(number, minimum=HEIGHTS[0], maximum=HEIGHTS[1])),
]


class Input(BaseModel):
    model_config = ConfigDict(strict=True)

    @classmethod
    def without_nulls(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Leave out the fields that are null and count as absent then."""
        nullable = {name for name, field in cls.model_fields.items() if OrNull in field.metadata}
        return {name: each for name, each in value.items() if each is not None or name not in nullable}

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, value: Any) -> Any:
        return cls.without_nulls(value) if isinstance(value, dict) else value
