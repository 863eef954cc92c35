"""A template as the API shows it."""

from typing import Any, Literal

from pydantic import Field, create_model

from paraph.api.v1.shapes import Id, Name, Output, Pagination, Timestamp
from paraph.drafts.models import OPTIONS as COLUMNS
from paraph.drafts.payload import stamps_payload
from paraph.kernel.clock import iso
from paraph.request_templates import models
from paraph.request_templates.input import RoleName
from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    SignatureRequestInput,
    Stamp,
)
from paraph.signature_requests.variants import OPTIONS, fields_of


class Role(Output):
    """In whose place somebody signs."""

    name: RoleName = Field(description="What `role` names where the template is sent.", examples=["Tenant"])
    otp_channel: Literal["email", "sms"] | None = Field(
        description="How the one-time code reaches whoever signs in the role; null where none was named."
    )


class PlacedRole(Output):
    """The stamps of one role on one document."""

    role: RoleName = Field(description="The `name` of the role.", examples=["Tenant"])
    stamps: list[Stamp] = Field(min_length=1, max_length=MOST_STAMPS, description="As they were given, tags too.")


class TemplateDocument(Output):
    """A document of a template, and which roles sign it where."""

    id: Id = Field(description="The document as uploaded.")
    roles: list[PlacedRole] = Field(min_length=1, max_length=MOST_SIGNERS, description="Those that sign it.")


Template: Any = create_model(
    "Template",
    __base__=Output,
    __doc__="A signature request without people. Options that were not given are as in a creation that does not give "
    "them.",
    id=(Id, Field(description="Identifies the template in its environment.")),
    name=(Name, Field(description="What the list is sorted by.")),
    **fields_of(SignatureRequestInput, OPTIONS),
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
    """Return the answer with a template, of which roles and placements are loaded."""
    roles = list(row.roles.all())
    answer: Output = Template.build(
        id=row.pk,
        name=row.name,
        **_options(row),
        roles=[Role.build(name=role.name, otp_channel=role.otp_channel or None) for role in roles],
        documents=[_document(each, roles) for each in row.documents.all()],
        created_at=iso(row.created_at),
    )
    return answer


def _options(row: models.Template) -> dict[str, Any]:
    chosen = {name: getattr(row, name) for name in COLUMNS} | row.more_options
    return {name: chosen.get(name, SignatureRequestInput.model_fields[name].default) for name in OPTIONS}


def _document(row: models.TemplateDocument, roles: list[models.TemplateRole]) -> TemplateDocument:
    given = _placed(row) if row.given is None else row.given
    shown = [PlacedRole.build(role=roles[each["role"]].name, stamps=each["stamps"]) for each in given]
    return TemplateDocument.build(id=row.document_id, roles=shown)


def _placed(row: models.TemplateDocument) -> list[dict[str, Any]]:
    """Return the placements of a member in the form of given ones."""
    of_role: dict[int, list[models.TemplateStamp]] = {}
    for stamp in row.stamps.all():
        of_role.setdefault(stamp.role.position, []).append(stamp)
    return [{"role": position, "stamps": stamps_payload(stamps)} for position, stamps in sorted(of_role.items())]
