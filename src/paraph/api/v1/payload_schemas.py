"""The shape of the creation payload, for the OpenAPI document (specification 4.5). What refuses a payload is
:mod:`paraph.signature_requests.payload`; a test holds the two together."""

from typing import Annotated, Literal

from ninja import Field, Schema

from paraph.signature_requests.payload import HEIGHTS, LONGEST_TAG, MOST_STAMPS, MOST_VALIDITY_DAYS, WIDTHS
from paraph.signature_requests.values import LONGEST_EMAIL, LONGEST_NAME, LONGEST_URL

_PRINTABLE = r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]"
_VISIBLE = _PRINTABLE.replace("[^", r"[^\s")
TEXT = rf"^{_PRINTABLE}*{_VISIBLE}{_PRINTABLE}*$"
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=TEXT)]


class Tag(Schema):
    tag: str = Field(min_length=1, max_length=LONGEST_TAG, description="Verbatim text of the PDF.", pattern=TEXT)


class Rectangle(Schema):
    page_number: int = Field(ge=1)
    x: float = Field(description="Points from the left of the page as a reader sees it.")
    y: float = Field(description="Points from the bottom of the page.")
    width: float = Field(200, ge=WIDTHS[0], le=WIDTHS[1])
    height: float = Field(80, ge=HEIGHTS[0], le=HEIGHTS[1])


class MagicFieldStamp(Schema):
    type: Literal["magic_field"]
    value: Tag
    optional: bool = Field(False, description="Ignore the stamp when the tag is absent.")


class CoordinatesStamp(Schema):
    type: Literal["coordinates"]
    value: Rectangle
    optional: bool = False


class Assignment(Schema):
    signer_ref: Name = Field(description="The ref of a signer of the request.")
    stamps: list[MagicFieldStamp | CoordinatesStamp] = Field(min_length=1, max_length=MOST_STAMPS)


class DocumentInput(Schema):
    id: int = Field(ge=1, le=2**63 - 1, description="The id answered by the upload.")
    signers: list[Assignment] = Field(min_length=1)


class SignerInput(Schema):
    ref: Name = Field(description="Any identifier, to link placements with; not kept.")
    first_name: Name
    last_name: Name
    email: str = Field(max_length=LONGEST_EMAIL, json_schema_extra={"format": "email"})
    phone: str | None = Field(None, description="E.164; required when otp_channel is sms.", examples=["+33612345678"])
    order: int | None = Field(None, description="Required and unique in sequential mode; ignored in parallel mode.")
    otp_channel: Literal["email", "sms"] | None = Field(None, description="sms requires the plan Pro or Enterprise.")


class SignatureRequestInput(Schema):
    mode: Literal["sequential", "parallel"]
    validity_days: int = Field(ge=1, le=MOST_VALIDITY_DAYS)
    send_email: bool = False
    identity_declaration_accepted: bool = Field(False, description="Must be true when send_email is true.")
    initials_required: bool = Field(False, description="Plans Pro and Enterprise.")
    notify_signers_on_completion: bool = False
    callback_url: str | None = Field(
        None, max_length=LONGEST_URL, pattern="^https://", json_schema_extra={"format": "uri"}
    )
    branding_profile_id: int | None = Field(None, ge=1, description="Plans Pro and Enterprise.")
    signers: list[SignerInput] = Field(min_length=1)
    documents: list[DocumentInput] = Field(min_length=1)


class Creation(Schema):
    signature_request: SignatureRequestInput
