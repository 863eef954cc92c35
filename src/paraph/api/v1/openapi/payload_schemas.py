"""The shape of the creation payload, for the OpenAPI document (specification 4.5). What refuses a payload is
:mod:`paraph.signature_requests.request_draft`; a test holds the two together."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from paraph.api.v1.openapi.schemas import MOST_DOCUMENTS, MOST_SIGNERS
from paraph.signature_requests.request_draft import (
    HEIGHTS,
    LONGEST_TAG,
    MOST_ORDER,
    MOST_PAGES,
    MOST_STAMPS,
    MOST_VALIDITY_DAYS,
    WIDTHS,
)
from paraph.signature_requests.values import LARGEST_ID, LONGEST_EMAIL, LONGEST_NAME, LONGEST_URL

_PRINTABLE = r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]"
_VISIBLE = _PRINTABLE.replace("[^", r"[^\s")
TEXT = rf"^{_PRINTABLE}*{_VISIBLE}{_PRINTABLE}*$"
ShortText = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=TEXT)]


class Tag(BaseModel):
    """Where a magic field goes: just under this text, centred on it."""

    tag: str = Field(
        min_length=1,
        max_length=LONGEST_TAG,
        pattern=TEXT,
        description="Text that stands verbatim in the PDF, capital letters too. Blanks and line breaks within it do "
        "not count: a PDF has none, only letters at places. Used once per signer and document.",
        examples=["{{signature:landlord}}"],
    )


class Rectangle(BaseModel):
    """Where a stamp goes, in points of the page as a reader sees it, origin at the bottom left. It must fit inside
    the page."""

    page_number: int = Field(ge=1, le=MOST_PAGES, description="From 1. The page must exist.")
    x: float = Field(ge=0, lt=1e9, description="Points from the left edge of the page to that of the stamp.")
    y: float = Field(ge=0, lt=1e9, description="Points from the bottom edge of the page to that of the stamp.")
    width: Annotated[float, Field(ge=WIDTHS[0], le=WIDTHS[1])] | None = Field(200, description="Points.")
    height: Annotated[float, Field(ge=HEIGHTS[0], le=HEIGHTS[1])] | None = Field(80, description="Points.")


class MagicFieldStamp(BaseModel):
    """A stamp just under a tag in the text, centred on it and moved sideways into the page. It is refused where the
    page ends before the stamp does."""

    type: Literal["magic_field"] = Field(description="`magic_field`: the place is found by a text.")
    value: Tag
    optional: bool = Field(
        False,
        description="Ignore the stamp when the tag is absent. Never null. Each signer keeps at least one stamp on each "
        "document that they sign.",
    )


class CoordinatesStamp(BaseModel):
    """A stamp at a place given in points."""

    type: Literal["coordinates"] = Field(description="`coordinates`: the place is given in points.")
    value: Rectangle
    optional: bool = Field(False, description="Has no effect here: a stamp outside the page is refused all the same.")


class Assignment(BaseModel):
    """The stamps of one signer on one document. A signer appears once per document."""

    signer_ref: ShortText = Field(description="The `ref` of a signer of the request.", examples=["landlord"])
    stamps: list[MagicFieldStamp | CoordinatesStamp] = Field(
        min_length=1,
        max_length=MOST_STAMPS,
        description="All stamps of the signer on this document, optional ones too.",
    )


class DocumentInput(BaseModel):
    """An uploaded document, and who signs it where. A signer absent from the list does not sign it."""

    id: int = Field(
        ge=1,
        le=LARGEST_ID,
        description="The id answered by the upload, of the key's environment. Listed once.",
        json_schema_extra={"format": "int64"},
    )
    signers: list[Assignment] = Field(
        min_length=1,
        max_length=MOST_SIGNERS,
        description="Those who sign this document; every signer signs at least one.",
    )


class SignerInput(BaseModel):
    """A person who signs."""

    ref: ShortText = Field(
        description="Any identifier, to link placements with; unique in the request, not kept.", examples=["landlord"]
    )
    first_name: ShortText = Field(description="As the stamp and the proof show it.")
    last_name: ShortText = Field(description="As the stamp and the proof show it.")
    email: str = Field(
        min_length=3,
        max_length=LONGEST_EMAIL,
        description="Where invitations and codes by e-mail go.",
        json_schema_extra={"format": "email"},
    )
    phone: Annotated[str, Field(pattern=r"^\+[1-9][0-9]{1,14}$", min_length=3, max_length=16)] | None = Field(
        None, description="In E.164 format; required when `otp_channel` is `sms`.", examples=["+33612345678"]
    )
    order: Annotated[int, Field(ge=1, le=MOST_ORDER)] | None = Field(
        None, description="Signing order: required and unique in `sequential` mode, ignored in `parallel` mode."
    )
    otp_channel: Literal["email", "sms"] | None = Field(
        None,
        description="How the one-time code reaches the signer. `sms` needs a phone and the plan Pro or Enterprise. "
        "Omitted or null: e-mail, and SMS too where a phone is known and the plan allows it.",
    )


class SignatureRequestInput(BaseModel):
    """What is to be signed, by whom, and where."""

    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    validity_days: int = Field(ge=1, le=MOST_VALIDITY_DAYS, description="Days until the request expires.")
    send_email: bool | None = Field(
        False, description="Whether the service invites by e-mail: signers in turn (`sequential`) or all at once."
    )
    identity_declaration_accepted: bool | None = Field(
        False,
        description="You attest that you have identified the signers yourself. Must be true when `send_email` is true.",
    )
    initials_required: bool | None = Field(
        False, description="Whether each signer also puts initials on each page. Plans Pro and Enterprise."
    )
    notify_signers_on_completion: bool | None = Field(
        False, description="Whether signers get a summary by e-mail at completion."
    )
    callback_url: Annotated[str, Field(max_length=LONGEST_URL, pattern="^https://")] | None = Field(
        None,
        description="Gets `request.completed` and `request.expired` of this request, besides the application's "
        "webhook URL.",
        json_schema_extra={"format": "uri"},
    )
    branding_profile_id: Annotated[int, Field(ge=1, le=LARGEST_ID)] | None = Field(
        None,
        description="A branding profile of your organization. Plans Pro and Enterprise. Omitted or null: the default "
        "colours.",
    )
    signers: list[SignerInput] = Field(
        min_length=1, max_length=MOST_SIGNERS, description="At most 5 on the plan Free, 25 on Pro, 100 on Enterprise."
    )
    documents: list[DocumentInput] = Field(
        min_length=1, max_length=MOST_DOCUMENTS, description="At most 3 on the plan Free, 20 on Pro, 50 on Enterprise."
    )


class Creation(BaseModel):
    """The body of a creation. Unknown fields are ignored, wherever they stand. An optional field that is null counts as
    absent; the one exception is `optional` of a stamp, which is `true` or `false` where it stands."""

    signature_request: SignatureRequestInput
