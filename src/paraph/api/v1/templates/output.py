"""A template as the API shows it."""

from typing import Any, Literal

from pydantic import ConfigDict, Field, create_model

from paraph.api.v1.shapes import ABSENT, Id, Name, Output, Pagination, Timestamp, without_defaults
from paraph.kernel.clock import iso
from paraph.request_templates import models
from paraph.request_templates.input import RoleName
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput
from paraph.signature_requests.input import (
    MOST_COPIES,
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    CopyInput,
    SignatureRequestInput,
    Stamp,
)
from paraph.signature_requests.models import Role as Kind
from paraph.signature_requests.variants import OPTIONS, fields_of

_RARE = ("copies", "decline_allowed")  # options that only some answers have


class Role(Output):
    """In whose place somebody signs."""

    name: RoleName = Field(description="What `role` names where the template is sent.", examples=["Tenant"])
    otp_channel: Literal["email", "sms"] | None = Field(
        description="How the one-time code reaches whoever signs in the role; null where none was named."
    )
    role: Literal["signer", "approver"] = Field(
        ABSENT, description="Whether the role signs or approves. Present only where the template has one that approves."
    )

    model_config = ConfigDict(json_schema_extra=without_defaults)


class PlacedRole(Output):
    """The stamps and fields of one role on one document."""

    role: RoleName = Field(description="The `name` of the role.", examples=["Tenant"])
    stamps: list[Stamp] = Field(
        max_length=MOST_STAMPS, description="As they were given, tags too; empty for a role that approves."
    )
    fields: list[FieldInput] = Field(
        ABSENT,
        min_length=1,
        max_length=MOST_FIELDS,
        description="As they were given. Present only where there are some.",
    )

    model_config = ConfigDict(json_schema_extra=without_defaults)


class TemplateDocument(Output):
    """A document of a template, and which roles sign it where."""

    id: Id = Field(description="The document as uploaded.")
    roles: list[PlacedRole] = Field(min_length=1, max_length=MOST_SIGNERS, description="Those that sign it.")


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


Template: Any = create_model(
    "Template",
    __base__=Output,
    __doc__="A signature request without people. Options that were not given are as in a creation that does not give "
    "them.",
    id=(Id, Field(description="Identifies the template in its environment.")),
    name=(Name, Field(description="What the list is sorted by.")),
    **fields_of(SignatureRequestInput, [name for name in OPTIONS if name not in _RARE]),
    copies=(
        list[CopyInput],
        Field(
            ABSENT,
            min_length=1,
            max_length=MOST_COPIES,
            description="As given. Present only where there are some.",
            json_schema_extra=_without_default,
        ),
    ),
    decline_allowed=(
        Literal[True],
        Field(
            ABSENT,
            description="A signer may decline. Present only where this is so.",
            json_schema_extra=_without_default,
        ),
    ),
    roles=(list[Role], Field(min_length=1, max_length=MOST_SIGNERS, description="In signing order.")),
    documents=(
        list[TemplateDocument],
        Field(min_length=1, max_length=MOST_DOCUMENTS, description="The documents, in the order given at creation."),
    ),
    created_at=(Timestamp, Field(description="When the template was created.")),
)

_ENTRIES: Any = list[Template]

Templates: Any = create_model(
    "Templates",
    __base__=Output,
    __doc__="A page of templates.",
    data=(_ENTRIES, Field(max_length=100, description="The entries of the page, sorted by name.")),
    pagination=(Pagination, Field()),
)


def template_of(row: models.Template) -> Output:
    """Return the answer with a template."""
    roles = row.roles
    answer: Output = Template.build(
        id=row.pk,
        name=row.name,
        **_options(row),
        roles=_roles(roles),
        documents=[_document(each, roles) for each in row.content["documents"]],
        created_at=iso(row.created_at),
    )
    return answer


def _options(row: models.Template) -> dict[str, Any]:
    chosen, fields = row.content, SignatureRequestInput.model_fields
    return {name: chosen.get(name, fields[name].default) for name in OPTIONS if name not in _RARE or chosen.get(name)}


def _roles(rows: list[models.Role]) -> list[Role]:
    with_kinds = any(row.role == Kind.APPROVER for row in rows)
    kinds: list[dict[str, Any]] = [{"role": row.role} if with_kinds else {} for row in rows]
    return [
        Role.build(name=row.name, otp_channel=row.otp_channel or None, **kind)
        for row, kind in zip(rows, kinds, strict=True)
    ]


def _document(each: dict[str, Any], roles: list[models.Role]) -> TemplateDocument:
    shown = [PlacedRole.build(role=roles[int(one["signer_ref"])].name, **_placed(one)) for one in each["signers"]]
    return TemplateDocument.build(id=each["id"], roles=shown)


def _placed(assignment: dict[str, Any]) -> dict[str, Any]:
    """Return stamps and fields as they were given, without where their tags are."""
    stamps, fields = (
        [{key: part for key, part in each.items() if key != "at"} for each in assignment.get(name, ())]
        for name in ("stamps", "fields")
    )
    return {"stamps": stamps} | ({"fields": fields} if fields else {})
