"""The body of a call that prepares a draft: that of a creation, of which anything may be missing."""

from typing import Any

from pydantic import Field, create_model

from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput
from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    OPTIONS,
    Assignment,
    DocumentInput,
    SignatureRequestInput,
    SignerInput,
    Stamp,
    fields_of,
)
from paraph.signature_requests.values import ClosedInput, Id, Text

DraftSignerInput: Any = create_model(
    "DraftSignerInput",
    __base__=ClosedInput,
    __doc__="A person who signs or approves, as far as it is known.",
    **fields_of(SignerInput, SignerInput.model_fields, optional=True),
)


class DraftAssignment(ClosedInput):
    """The stamps and fields of one signer on one document, as far as they are known."""

    signer_ref: Text = Field(description=Assignment.model_fields["signer_ref"].description, examples=["landlord"])
    stamps: list[Stamp] | None = Field(None, max_length=MOST_STAMPS, description="Stamps that are given are whole.")
    fields: list[FieldInput] | None = Field(
        None, max_length=MOST_FIELDS, description="Fields that are given are whole."
    )


class DraftDocumentInput(ClosedInput):
    """An uploaded document, and who signs it where, as far as it is known."""

    id: Id = Field(description=DocumentInput.model_fields["id"].description)
    signers: list[DraftAssignment] | None = Field(
        None, max_length=MOST_SIGNERS, description="Those who sign this document."
    )


_SIGNERS: Any = list[DraftSignerInput] | None

DraftInput: Any = create_model(
    "DraftInput",
    __base__=ClosedInput,
    __doc__="What is to be signed, by whom, and where, as far as it is known.",
    **fields_of(SignatureRequestInput, OPTIONS, optional=True),
    signers=(_SIGNERS, Field(None, max_length=MOST_SIGNERS, description="As many as a request of your plan may have.")),
    documents=(
        list[DraftDocumentInput] | None,
        Field(None, max_length=MOST_DOCUMENTS, description="As many as a request of your plan may have."),
    ),
)

DraftCreation: Any = create_model(
    "DraftCreation",
    __base__=ClosedInput,
    __doc__="The body of a draft. Unknown fields are refused. A field that is null counts as missing.",
    signature_request=(DraftInput, Field()),
)
