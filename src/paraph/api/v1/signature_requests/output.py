"""The shape of a signature request as the API shows it (rules 2.2, 2.3 and 4.7)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, WithJsonSchema

from paraph.api.v1.branding_profiles import BrandingProfile
from paraph.api.v1.shapes import ABSENT, Id, Name, Output, Pagination, Timestamp, Url, without_defaults
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldKind, FieldName, Label
from paraph.signature_requests.fields.kinds import LONGEST_TEXT
from paraph.signature_requests.input import MOST_COPIES, MOST_DAYS_BETWEEN, MOST_DOCUMENTS, MOST_REMINDERS, MOST_SIGNERS
from paraph.signature_requests.values import (
    LONGEST_EMAIL,
    LONGEST_NAME,
    LONGEST_REASON,
    METADATA,
    MOST_ORDER,
    MOST_VALIDITY_DAYS,
)


class Delivery(Output):
    """What became of an invitation that is not out."""

    put_off_until: Timestamp = Field(
        description="As many messages as may go to this address, or as your organization may send, were sent. The "
        "invitation is tried again at this time by itself."
    )


class FilledField(Output):
    """A field of a signer, and what was signed in it."""

    document_id: Id = Field(description="The document that it stands on.")
    name: FieldName = Field(description="As given at creation.")
    type: FieldKind = Field(description="As given at creation.")
    label: Label = Field(description="What the signer reads.")
    value: Annotated[str, Field(max_length=LONGEST_TEXT)] | bool | None = Field(
        description="A date as `YYYY-MM-DD`, a number with a point, of a checkbox whether it is ticked. Null until the "
        "signer has signed, where nothing was entered, and once the signer's data are erased."
    )


class Copy(Output):
    """A person who gets a copy."""

    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    email: str = Field(
        min_length=3,
        max_length=LONGEST_EMAIL,
        description="As given at creation.",
        json_schema_extra={"format": "email"},
    )


class Signer(Output):
    """A signer of a request. The `ref` given at creation is not kept and not returned."""

    id: Id = Field(description="Identifies the signer; what `signer_id` of the audit log names.")
    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    full_name: str = Field(min_length=3, max_length=2 * LONGEST_NAME + 1, description="First name, space, last name.")
    email: str = Field(
        min_length=3,
        max_length=LONGEST_EMAIL,
        description="As given at creation.",
        json_schema_extra={"format": "email"},
    )
    order: int = Field(description="Signing order; in `parallel` mode the position at creation.", ge=1, le=MOST_ORDER)
    status: Literal["pending", "notified", "signed"] = Field(
        description="`notified` once the invitation was really sent by e-mail; `signed` once the signer has signed."
    )
    signed_at: Timestamp | None = Field(description="Null until the signer has signed.")
    signing_url: Url | None = Field(
        description="Personal address of the signing page, valid until the request expires; null once signed. "
        "It must reach this signer and nobody else."
    )
    delivery: Delivery | None = Field(description="Null unless the invitation is put off by a ceiling of messages.")
    role: Literal["signer", "approver"] = Field(
        ABSENT,
        description="An `approver` confirms the documents and draws nothing. Present only where the request has one.",
    )
    fields: list[FilledField] = Field(
        ABSENT,
        max_length=MOST_FIELDS * MOST_DOCUMENTS,
        description="The fields of the signer, by document. Present only where the request has fields.",
    )

    model_config = ConfigDict(json_schema_extra=without_defaults)


class Reminders(Output):
    """How the service reminds signers whose turn it is."""

    every_days: int = Field(ge=1, le=MOST_DAYS_BETWEEN, description="Days after the invitation or the one before.")
    at_most: int = Field(ge=1, le=MOST_REMINDERS, description="The most for each signer.")


class CreatedSignatureRequest(Output):
    """A signature request as creation answers it."""

    id: Id = Field(description="Identifies the request in its environment.")
    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    status: Literal["pending", "completed", "expired"] = Field(
        description="`completed` once everybody has signed. The results come later: see `finalized`."
    )
    validity_days: int = Field(ge=1, le=MOST_VALIDITY_DAYS, description="Days from `created_at` to `expires_at`.")
    initials_required: bool = Field(description="Whether each signer also puts initials on each page.")
    notify_signers_on_completion: bool = Field(description="Whether signers get a summary by e-mail at completion.")
    expires_at: Timestamp = Field(description="From this second on nobody can sign: `created_at` plus `validity_days`.")
    created_at: Timestamp = Field(description="When the request was created.")
    document_ids: list[Id] = Field(
        min_length=1, max_length=MOST_DOCUMENTS, description="The documents, in the order given at creation."
    )
    signers: list[Signer] = Field(min_length=1, max_length=MOST_SIGNERS, description="The signers, by `order`.")
    branding_profile: BrandingProfile | None = Field(description="Null when the default colours are used.")
    external_id: Name | None = Field(description="As given at creation; null where none was.")
    metadata: Annotated[dict[str, str], WithJsonSchema(METADATA)] = Field(
        description="As given at creation; empty where none was."
    )
    redirect_url: Url | None = Field(description="As given at creation; null where none was.")
    reminders: Reminders | None = Field(description="As given at creation; null where none were asked for.")
    ended_early: bool = Field(
        description="Whether its sender, an application of yours, a signer who declined or the service's operator "
        "ended it before its time."
    )
    ended_reason: str | None = Field(
        min_length=1, max_length=LONGEST_REASON, description="Why it was ended early; null where it was not."
    )
    copies: list[Copy] = Field(
        ABSENT,
        min_length=1,
        max_length=MOST_COPIES,
        description="Who else gets a copy. Present only where there are some.",
    )
    decline_allowed: Literal[True] = Field(ABSENT, description="A signer may decline. Present only where this is so.")
    declined_by: Id = Field(
        ABSENT, description="The signer who declined, for `ended_reason`. Present only where one did."
    )

    model_config = ConfigDict(json_schema_extra=without_defaults)


class ListedSignatureRequest(CreatedSignatureRequest):
    """A signature request as lists show it."""

    finalized: bool = Field(
        description="True once the sealed documents and the proof file can be downloaded. Wait for this, not for "
        "`status`."
    )


class DownloadUrls(Output):
    """Where the results of one document lie. Reading the request again gives fresh addresses."""

    document_id: Id = Field(description="The document as uploaded.")
    signed_url: Url = Field(description="Presigned address of the sealed PDF.")
    certificate_url: Url = Field(description="Presigned address of the proof file; the same in every entry.")
    expires_in: Literal[900] = Field(description="Seconds for which both addresses work.")


class SignatureRequest(ListedSignatureRequest):
    """A signature request read by its id."""

    download_urls: list[DownloadUrls] = Field(
        ABSENT,
        max_length=MOST_DOCUMENTS,
        description="One entry per document, in their order. Present only when the request is `completed` and "
        "`finalized`; empty once the files are deleted by the organization's retention.",
    )


class SignatureRequests(Output):
    """A page of signature requests."""

    data: list[ListedSignatureRequest] = Field(
        max_length=100, description="The entries of the page; empty beyond the last."
    )
    pagination: Pagination
