"""The bodies of calls about templates: what the OpenAPI document says of them, and which fields there are. Values are
checked as those of a creation are."""

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, create_model

from paraph.request_templates.models import LONGEST_ROLE
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput, FieldName, PrefilledValue
from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    OPTIONS,
    PERSON,
    TAKING_PART,
    SignatureRequestInput,
    SignerInput,
    Stamp,
    fields_of,
)
from paraph.signature_requests.values import PRINTABLE, ClosedInput, Id, OrNull, Text, text

RoleName = Annotated[
    str,
    PlainValidator(text),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_ROLE,
            "pattern": rf"^{PRINTABLE}*[^\W_]{PRINTABLE}*$",
        }
    ),
]

RoleInput: Any = create_model(
    "RoleInput",
    __base__=ClosedInput,
    __doc__="In whose place somebody signs, such as “Tenant”.",
    name=(
        RoleName,
        Field(
            description="Unique in the template, whether in capital or small letters, and with a letter or a number in "
            "it.",
            examples=["Tenant"],
        ),
    ),
    **fields_of(SignerInput, TAKING_PART),
)


class RoleStamps(ClosedInput):
    """The stamps and fields of one role on one document. A role appears once per document. One that approves has
    neither."""

    role: RoleName = Field(description="The `name` of a role of the template.", examples=["Tenant"])
    stamps: Annotated[list[Stamp], OrNull] = Field(
        [],
        max_length=MOST_STAMPS,
        description="All stamps of the role on this document, optional ones too: at least one, but none of a role that "
        "approves.",
    )
    fields: Annotated[list[FieldInput], OrNull] = Field(
        [], max_length=MOST_FIELDS, description="What whoever signs in the role fills in on this document."
    )


class TemplateDocumentInput(ClosedInput):
    """An uploaded document, and which roles sign it where. A role absent from the list does not sign it."""

    id: Id = Field(description="The id answered by the upload, of the key's environment. Listed once.")
    roles: list[RoleStamps] = Field(
        min_length=1,
        max_length=MOST_SIGNERS,
        description="Those that sign or approve this document: at least one that signs. Every role is listed on at "
        "least one.",
    )


_ROLES: Any = list[RoleInput]

TemplateInput: Any = create_model(
    "TemplateInput",
    __base__=ClosedInput,
    __doc__="A signature request without people.",
    name=(Text, Field(description="What lists are sorted by. Two templates may have one name.")),
    **fields_of(SignatureRequestInput, OPTIONS),
    roles=(
        _ROLES,
        Field(
            min_length=1,
            max_length=MOST_SIGNERS,
            description="In the signing order of `sequential` mode. As many as your plan allows signers.",
        ),
    ),
    documents=(
        list[TemplateDocumentInput],
        Field(min_length=1, max_length=MOST_DOCUMENTS, description="As many as a request of your plan may have."),
    ),
)

TemplateCreation: Any = create_model(
    "TemplateCreation",
    __base__=ClosedInput,
    __doc__="The body of a template's creation. Unknown fields are refused. An optional field that is null counts as "
    "absent.",
    template=(TemplateInput, Field()),
)


class PrefilledField(ClosedInput):
    """What a field of the role begins with, in place of the template's own."""

    name: FieldName = Field(description="The `name` of a field of the role; on every document that has one.")
    value: PrefilledValue = Field(description="As in a creation.")


FilledRoleInput: Any = create_model(
    "FilledRoleInput",
    __base__=ClosedInput,
    __doc__="Who signs in a role of the template.",
    role=(RoleName, Field(description="The `name` of the role.", examples=["Tenant"])),
    **fields_of(SignerInput, (*PERSON, "language")),
    fields=(
        Annotated[list[PrefilledField], OrNull],
        Field([], max_length=MOST_FIELDS * MOST_DOCUMENTS, description="Values for fields of the role."),
    ),
)

_FILLED_ROLES: Any = list[FilledRoleInput]

TemplateSendingInput: Any = create_model(
    "TemplateSendingInput",
    __base__=ClosedInput,
    __doc__="Who signs, and what is to be otherwise than in the template.",
    signers=(
        _FILLED_ROLES,
        Field(
            min_length=1,
            max_length=MOST_SIGNERS,
            description="One for each role of the template, in any order. A role that always has the same person may "
            "be left out.",
        ),
    ),
    **fields_of(SignatureRequestInput, OPTIONS, optional=True),
)

TemplateSending: Any = create_model(
    "TemplateSending",
    __base__=ClosedInput,
    __doc__="The body of a creation from a template. Unknown fields are refused. An option that is absent or null is "
    "as in the template.",
    signature_request=(TemplateSendingInput, Field()),
)
