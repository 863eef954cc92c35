"""The payload of a creation (rule 4.5): one shape, by which it is read and which OpenAPI publishes.

Strict: a string is no number and ``"true"`` is not true. Unknown fields are ignored. What no field can say by itself is
checked in :mod:`paraph.signature_requests.references`; how problems are worded, in
:mod:`paraph.signature_requests.payload`.
"""

from functools import partial
from typing import Annotated, Any, Literal, TypeVar

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

MOST_SIGNERS = 100  # of the plan Enterprise; a test compares
MOST_DOCUMENTS = 50
MOST_VALIDITY_DAYS = 90
MOST_STAMPS = 10
MOST_DAYS_BETWEEN = 30
MOST_REMINDERS = 10
WIDTHS = (80.0, 400.0)
HEIGHTS = (30.0, 160.0)
DEFAULT_SIZE = (200.0, 80.0)
MOST_ORDER = MOST_PAGES = 2**31 - 1
LONGEST_TAG = 500
LONGEST_REASON = 500

PRINTABLE = r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]"
_VISIBLE = PRINTABLE.replace("[^", r"[^\s")
_TEXT = {"type": "string", "minLength": 1, "pattern": rf"^{PRINTABLE}*{_VISIBLE}{PRINTABLE}*$"}
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

Text = Annotated[str, PlainValidator(text), WithJsonSchema({**_TEXT, "maxLength": LONGEST_NAME})]
LongText = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_TAG)), WithJsonSchema({**_TEXT, "maxLength": LONGEST_TAG})
]
Reason = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_REASON)), WithJsonSchema({**_TEXT, "maxLength": LONGEST_REASON})
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


class Tag(Input):
    """Where a magic field goes: just under this text, centred on it."""

    tag: LongText = Field(
        description="Text that stands verbatim in the PDF, capital letters too. Blanks and line breaks within it do "
        "not count: a PDF has none, only letters at places. Used once per signer and document.",
        examples=["{{signature:landlord}}"],
    )
    width: Annotated[Width, OrNull] = Field(DEFAULT_SIZE[0], description="Points.")
    height: Annotated[Height, OrNull] = Field(DEFAULT_SIZE[1], description="Points.")


class Rectangle(Input):
    """Where a stamp goes, in points of the page as a reader sees it, origin at the bottom left. It must fit inside
    the page."""

    page_number: Page = Field(description="From 1. The page must exist.")
    x: Point = Field(description="Points from the left edge of the page to that of the stamp.")
    y: Point = Field(description="Points from the bottom edge of the page to that of the stamp.")
    width: Annotated[Width, OrNull] = Field(DEFAULT_SIZE[0], description="Points.")
    height: Annotated[Height, OrNull] = Field(DEFAULT_SIZE[1], description="Points.")


class MagicFieldStamp(Input):
    """A stamp just under a tag in the text, centred on it and moved sideways into the page. It is refused where the
    page ends before the stamp does."""

    type: Literal["magic_field"] = Field(description="`magic_field`: the place is found by a text.")
    value: Tag
    optional: bool = Field(
        False,
        description="Ignore the stamp when the tag is absent. Never null. Each signer keeps at least one stamp on each "
        "document that they sign.",
    )


class CoordinatesStamp(Input):
    """A stamp at a place given in points."""

    type: Literal["coordinates"] = Field(description="`coordinates`: the place is given in points.")
    value: Rectangle
    optional: bool = Field(False, description="Has no effect here: a stamp outside the page is refused all the same.")


Stamp = Annotated[MagicFieldStamp | CoordinatesStamp, Field(discriminator="type")]


class Assignment(Input):
    """The stamps of one signer on one document. A signer appears once per document."""

    signer_ref: Text = Field(description="The `ref` of a signer of the request.", examples=["landlord"])
    stamps: list[Stamp] = Field(
        min_length=1,
        max_length=MOST_STAMPS,
        description="All stamps of the signer on this document, optional ones too.",
    )


class DocumentInput(Input):
    """An uploaded document, and who signs it where. A signer absent from the list does not sign it."""

    id: Id = Field(description="The id answered by the upload, of the key's environment. Listed once.")
    signers: list[Entry[Assignment]] = Field(
        min_length=1,
        max_length=MOST_SIGNERS,
        description="Those who sign this document; every signer signs at least one.",
    )


class SignerInput(Input):
    """A person who signs."""

    ref: Text = Field(
        description="Any identifier, to link placements with; unique in the request, not kept.", examples=["landlord"]
    )
    first_name: Text = Field(description="As the stamp and the proof show it.")
    last_name: Text = Field(description="As the stamp and the proof show it.")
    email: Email = Field(description="Where invitations and codes by e-mail go.")
    phone: Phone | None = Field(
        None, description="In E.164 format; required when `otp_channel` is `sms`.", examples=["+33612345678"]
    )
    order: Order | None = Field(
        None, description="Signing order: required and unique in `sequential` mode, ignored in `parallel` mode."
    )
    otp_channel: Literal["email", "sms"] | None = Field(
        None,
        description="How the one-time code reaches the signer. `sms` needs a phone and the plan Pro or Enterprise. "
        "Omitted or null: e-mail, and SMS too where a phone is known and the plan allows it.",
    )


class RemindersInput(Input):
    """How the service reminds signers whose turn it is, by mailing the invitation again."""

    every_days: Annotated[
        int, Field(ge=1, le=MOST_DAYS_BETWEEN), BeforeValidator(partial(integer, maximum=MOST_DAYS_BETWEEN))
    ] = Field(description="Days after the invitation or the reminder before.")
    at_most: Annotated[
        int, Field(ge=1, le=MOST_REMINDERS), BeforeValidator(partial(integer, maximum=MOST_REMINDERS))
    ] = Field(description="The most reminders for each signer; those asked for by hand or by the API are not counted.")


class SignatureRequestInput(Input):
    """What is to be signed, by whom, and where."""

    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    validity_days: Days = Field(description="Days until the request expires.")
    send_email: Annotated[bool, OrNull] = Field(
        False, description="Whether the service invites by e-mail: signers in turn (`sequential`) or all at once."
    )
    identity_declaration_accepted: Annotated[bool, OrNull] = Field(
        False,
        description="You attest that you have identified the signers yourself. Must be true when `send_email` is true.",
    )
    initials_required: Annotated[bool, OrNull] = Field(
        False, description="Whether each signer also puts initials on each page. Plans Pro and Enterprise."
    )
    notify_signers_on_completion: Annotated[bool, OrNull] = Field(
        False, description="Whether signers get a summary by e-mail at completion."
    )
    callback_url: HttpsUrl | None = Field(
        None,
        description="Gets `request.completed` and `request.expired` of this request, besides the application's "
        "webhook URL.",
    )
    branding_profile_id: Id | None = Field(
        None,
        description="A branding profile of your organization. Plans Pro and Enterprise. Omitted or null: the default "
        "colours.",
    )
    external_id: Text | None = Field(
        None,
        description="What your own system calls the request; lists can be filtered by it. It need not be unique. "
        "Signers do not see it.",
        examples=["lease-4711"],
    )
    metadata: Metadata | None = Field(
        None,
        description="Your own data: at most 50 keys of 1 to 40 characters from `A-Za-z0-9_.-`, with texts of at most "
        "500 characters. Webhooks and the dashboard show them, signers do not see them.",
        examples=[{"property": "Lime Street 4"}],
    )
    redirect_url: PageUrl | None = Field(
        None,
        description="Once signed, the page offers to continue there, with `signature_request_id` and `signer_id` added "
        "to the query; it never moves by itself. `https`; in the sandbox also `http://localhost`.",
        examples=["https://example.com/leases/4711"],
    )
    reminders: RemindersInput | None = Field(
        None,
        description="Has the service remind signers who were invited. Needs `send_email`. Omitted or null: only "
        "you remind.",
    )
    signers: list[Entry[SignerInput]] = Field(
        min_length=1, max_length=MOST_SIGNERS, description="At most 5 on the plan Free, 25 on Pro, 100 on Enterprise."
    )
    documents: list[Entry[DocumentInput]] = Field(
        min_length=1, max_length=MOST_DOCUMENTS, description="At most 3 on the plan Free, 20 on Pro, 50 on Enterprise."
    )


class Creation(BaseModel):
    """The body of a creation. Unknown fields are ignored, wherever they stand. An optional field that is null counts as
    absent; the one exception is `optional` of a stamp, which is `true` or `false` where it stands."""

    signature_request: SignatureRequestInput


class End(Input):
    """Why a request is ended. Unknown fields are ignored."""

    reason: Reason = Field(
        description="Signers do not see it. Kept for good in the audit log and told in webhooks: please name nobody.",
        examples=["Signed on paper."],
    )
