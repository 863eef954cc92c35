"""The payload of a creation (rule 4.5): one shape, by which it is read and which OpenAPI publishes.

Strict: a string is no number and ``"true"`` is not true. Unknown fields are ignored. What no field can say by itself is
checked in :mod:`paraph.signature_requests.plan`; how problems are worded: :mod:`paraph.signature_requests.payload`.
"""

from collections.abc import Collection
from copy import copy
from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)

from paraph.signature_requests.fields.input import MOST_FIELDS, MOST_FIELDS_OF_REQUEST, FieldInput
from paraph.signature_requests.values import (
    ClosedInput,
    Days,
    Email,
    Entry,
    Height,
    HttpsUrl,
    Id,
    Input,
    LongText,
    Metadata,
    Order,
    OrNull,
    Page,
    PageUrl,
    Phone,
    Point,
    Reason,
    Text,
    Width,
    integer,
)
from paraph.words import LOCALES

MOST_SIGNERS = 100  # of the plan Enterprise; a test compares
MOST_DOCUMENTS = 50
MOST_STAMPS = 10
MOST_DAYS_BETWEEN = 30
MOST_REMINDERS = 10
MOST_COPIES = 20
DEFAULT_SIZE = (200.0, 80.0)


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
    """The stamps and fields of one signer on one document. A signer appears once per document. An approver has
    neither."""

    signer_ref: Text = Field(description="The `ref` of a signer of the request.", examples=["landlord"])
    stamps: Annotated[list[Stamp], OrNull] = Field(
        [],
        max_length=MOST_STAMPS,
        description="All stamps of the signer on this document, optional ones too: at least one, but none of an "
        "approver.",
    )
    fields: Annotated[list[Entry[FieldInput]], OrNull] = Field(
        [],
        max_length=MOST_FIELDS,
        description="What the signer fills in on this document before signing, in the order of reading. All signers "
        f"together have at most {MOST_FIELDS_OF_REQUEST} on all documents.",
    )


class DocumentInput(Input):
    """An uploaded document, and who signs it where. A signer absent from the list does not sign it."""

    id: Id = Field(description="The id answered by the upload, of the key's environment. Listed once.")
    signers: list[Entry[Assignment]] = Field(
        min_length=1,
        max_length=MOST_SIGNERS,
        description="Those who sign or approve this document: at least one who signs. Everybody is listed on at least "
        "one.",
    )


class SignerInput(Input):
    """A person who signs, or approves."""

    ref: Text = Field(
        description="Any identifier, to link placements with; unique in the request, not kept.", examples=["landlord"]
    )
    first_name: Text = Field(description="As the stamp and the proof show it.")
    last_name: Text = Field(description="As the stamp and the proof show it.")
    email: Email = Field(description="Where invitations and codes by e-mail go.")
    phone: Phone | None = Field(
        None,
        description="In E.164 format; required when `otp_channel` is `sms`, and then no premium or satellite number.",
        examples=["+33612345678"],
    )
    order: Order | None = Field(
        None, description="Signing order: required and unique in `sequential` mode, ignored in `parallel` mode."
    )
    otp_channel: Literal["email", "sms"] | None = Field(
        None,
        description="How the one-time code reaches the signer. `sms` needs a phone and the plan Pro or Enterprise. "
        "Omitted or null: e-mail, and SMS too where a phone is known and the plan allows it.",
    )
    role: Annotated[Literal["signer", "approver"], OrNull] = Field(
        "signer",
        description="An `approver` takes part in the order, reads and confirms with a one-time code, and draws nothing "
        "on the documents. At least one of those listed must sign.",
    )
    language: Literal[LOCALES] | None = Field(  # type: ignore[valid-type]  # a tuple of constants
        None,
        description="The language of mails to the signer and of their signing page. Omitted or null: the request's.",
    )


class CopyInput(Input):
    """A person who gets a mail with links to the sealed documents and to the proof, once they are there."""

    first_name: Text = Field(description="As the mail greets.")
    last_name: Text = Field(description="As the mail greets.")
    email: Email = Field(description="Where the mail goes, whatever `send_email` says.")


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
    copies: Annotated[list[Entry[CopyInput]], OrNull] = Field(
        [], max_length=MOST_COPIES, description="Who else gets a copy, by links that open for 30 days without a code."
    )
    decline_allowed: Annotated[bool, OrNull] = Field(
        False, description="Whether a signer may decline, with a reason. This ends the request early."
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
        description="Mailed to those who were invited. Kept for good in the audit log and told in webhooks: please "
        "name nobody.",
        examples=["Signed on paper."],
    )


class Extend(Input):
    """How long signers have from now. Unknown fields are ignored."""

    validity_days: Days = Field(
        description="Days from now until the request expires. It never expires earlier than before."
    )


OPTIONS = tuple(name for name in SignatureRequestInput.model_fields if name not in ("signers", "documents"))
"""What a creation says beside who signs what."""


def fields_of(shape: type[BaseModel], names: Collection[str], *, optional: bool = False) -> dict[str, Any]:
    """Return the fields of these names as :func:`pydantic.create_model` takes them; ``optional``: each may be absent or
    null, and is null then."""
    fields: dict[str, Any] = {}
    for name in names:
        field = copy(shape.model_fields[name])
        kind: Any = field.annotation
        if optional:
            for each in field.metadata:
                kind = kind if each is OrNull else Annotated[kind, each]
            kind = kind if type(None) in get_args(kind) else kind | None
            field.default, field.metadata, field.default_factory = None, [], None
        fields[name] = (kind, field)
    return fields


def options_of(value: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a value names; null counts as absent."""
    return {name: value[name] for name in OPTIONS if value.get(name) is not None}


PERSON = ("first_name", "last_name", "email", "phone")
TAKING_PART = ("otp_channel", "role", "language")  # how a person does so; in a template, how a role does

_Correctable: Any = create_model(
    "_Correctable", __base__=ClosedInput, **fields_of(SignerInput, (*PERSON, "otp_channel", "language"), optional=True)
)


class Correction(_Correctable):
    """What is to be put right of a signer; at least one field, and no others."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @property
    def values(self) -> dict[str, str]:
        """The columns of a signer that it names."""
        return self.model_dump(exclude_none=True)


PartialSigner: Any = create_model(
    "PartialSigner", __base__=SignerInput, **fields_of(SignerInput, ("ref", *PERSON[:3]), optional=True)
)
_SIGNERS: Any = list[Entry[PartialSigner]]


def is_nobody(names: Collection[str]) -> bool:
    """Return whether a signer for whom these fields are given is nobody in particular yet."""
    return set(PERSON).isdisjoint(names)


def _whole_or_nobody(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    return read(value) if not isinstance(value, dict) or is_nobody(value) else SignerInput.model_validate(value)


_SIGNERS_OR_NOBODY: Any = list[Entry[Annotated[PartialSigner, WrapValidator(_whole_or_nobody)]]]

UnnamedRequest: Any = create_model(
    "UnnamedRequest",
    __base__=SignatureRequestInput,
    __doc__="A creation of which nobody has to be known: signers may have a ``ref`` alone. What is there is "
    "checked by the same rules.",
    signers=(_SIGNERS_OR_NOBODY, Field(min_length=1, max_length=MOST_SIGNERS)),
)

PartialDocument: Any = create_model(
    "PartialDocument",
    __base__=DocumentInput,
    signers=(Annotated[list[Entry[Assignment]], OrNull], Field([], max_length=MOST_SIGNERS)),
)
_DOCUMENTS: Any = list[Entry[PartialDocument]]

PartialRequest: Any = create_model(
    "PartialRequest",
    __base__=UnnamedRequest,
    __doc__="A creation of which any part may be missing: signers, documents, who signs them and how. What is there is "
    "checked by the same rules.",
    signers=(Annotated[_SIGNERS, OrNull], Field([], max_length=MOST_SIGNERS)),
    documents=(Annotated[_DOCUMENTS, OrNull], Field([], max_length=MOST_DOCUMENTS)),
    **fields_of(SignatureRequestInput, ("mode", "validity_days"), optional=True),
)
