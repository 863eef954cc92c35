"""Templates, and signature requests from them."""

from functools import partial
from typing import Any, Literal

from django.db.models.functions import Lower
from django.http import HttpResponse
from pydantic import Field, create_model

from paraph.api.v1 import call
from paraph.api.v1.codes import INPUT, MADE, refused
from paraph.api.v1.endpoint import KEY, ApiRequest, Body, actor, existing, json_response, no_content, operation
from paraph.api.v1.lists import PAGING, envelope
from paraph.api.v1.shapes import Id, Name, Output, Pagination, Timestamp, sometimes
from paraph.api.v1.signature_request_shapes import CreatedSignatureRequest
from paraph.api.v1.signature_requests import create_once
from paraph.flow.sending.templates import delete_oldest_templates, keep_template
from paraph.flow.sending.templates import delete_template as delete
from paraph.flow.sending.templates import send_template as send
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel.clock import iso
from paraph.kernel.places import expensive_work
from paraph.request_templates import models
from paraph.request_templates.input import (
    RoleName,
    TemplateCreation,
    TemplateInput,
    TemplateSending,
    TemplateSendingInput,
)
from paraph.request_templates.saving import size_of_contents
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput
from paraph.signature_requests.input import (
    MOST_COPIES,
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    OPTIONS,
    CopyInput,
    SignatureRequestInput,
    Stamp,
    fields_of,
)
from paraph.signature_requests.localized import accepted_locale
from paraph.signature_requests.models import Role as Kind
from paraph.tenants.scope import scoped
from paraph.words import LOCALES

_RARE = ("copies", "decline_allowed")  # options that only some answers have


class Role(Output):
    """In whose place somebody signs."""

    name: RoleName = Field(description="What `role` names where the template is sent.", examples=["Tenant"])
    otp_channel: Literal["email", "sms"] | None = Field(
        description="How the one-time code reaches whoever signs in the role; null where none was named."
    )
    role: Literal["signer", "approver"] = sometimes(
        description="Whether the role signs or approves. Present only where the template has one that approves."
    )
    language: Literal[LOCALES] = sometimes(  # type: ignore[valid-type]  # a tuple of constants
        description="The language that was given for whoever has the role. Present only where one was."
    )


class PlacedRole(Output):
    """The stamps and fields of one role on one document."""

    role: RoleName = Field(description="The `name` of the role.", examples=["Tenant"])
    stamps: list[Stamp] = Field(
        max_length=MOST_STAMPS, description="As they were given, tags too; empty for a role that approves."
    )
    fields: list[FieldInput] = sometimes(
        min_length=1, max_length=MOST_FIELDS, description="As they were given. Present only where there are some."
    )


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
    **fields_of(SignatureRequestInput, [name for name in OPTIONS if name not in _RARE]),
    copies=(
        list[CopyInput],
        sometimes(min_length=1, max_length=MOST_COPIES, description="As given. Present only where there are some."),
    ),
    decline_allowed=(Literal[True], sometimes(description="A signer may decline. Present only where this is so.")),
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
    shown = []
    for row in rows:
        more = {"language": row.language} if row.language else {}
        if any(each.role == Kind.APPROVER for each in rows):
            more["role"] = row.role
        shown.append(Role.build(name=row.name, otp_channel=row.otp_channel or None, **more))
    return shown


def _document(each: dict[str, Any], roles: list[models.Role]) -> TemplateDocument:
    shown = [PlacedRole.build(role=roles[int(one["signer_ref"])].name, **_placed(one)) for one in each["signers"]]
    return TemplateDocument.build(id=each["id"], roles=shown)


def _placed(assignment: dict[str, Any]) -> dict[str, Any]:
    """Return stamps and fields as they were given, without the places of their tags."""
    stamps, fields = (
        [{key: part for key, part in each.items() if key != "at"} for each in assignment.get(name, ())]
        for name in ("stamps", "fields")
    )
    return {"stamps": stamps} | ({"fields": fields} if fields else {})


_OPTIONS = (*MADE, *INPUT, "validation_json", "validation_unknown_field", "forbidden_sms:role")
_OF_SENDING = ("identity_declaration_required", "validation_roles", "validation_document:template")
_SENDING = ("insufficient_storage_requests", *_OPTIONS, *_OF_SENDING)


@operation(
    "createTemplate",
    "POST /templates",
    Template,
    "The template, with the placements as they were given.",
    status=201,
    accepts=(KEY,),
    body=Body(TemplateCreation, "The template, under the root key. At most 4 MiB."),
    refuses=(*_OPTIONS, "validation_fields:roles", "validation_tag:roles"),
)
def create_template(request: ApiRequest) -> HttpResponse:
    """Create a template.

    Keeps documents, roles, places and options for requests to come. It is checked as a creation with somebody in each
    role would be: whatever is wrong is named in one message, and nothing is kept. A template never changes. Those of
    production stand in the dashboard too, and those made there are listed here.
    """
    with call.key_of(request) as key:
        payload = call.read(request, "template", TemplateInput)
        locale = accepted_locale(request.headers.get("Accept-Language", ""))

        def made(extra_rows: ExtraRows) -> models.Template:
            kept = keep_template(request.scope, payload, locale, actor(request), extra_rows)
            delete_oldest_templates(request.scope, actor(request))
            return scoped(models.Template, request.scope).get(pk=kept.pk)

        def made_before(template_id: int) -> models.Template | None:
            return scoped(models.Template, request.scope).filter(pk=template_id).first()

        return call.created_once(key, payload, made, made_before, template_of)


@operation(
    "listTemplates",
    "GET /templates",
    Templates,
    "A page of templates.",
    accepts=PAGING,
    refuses=("validation_too_much",),
)
@expensive_work()
def list_templates(request: ApiRequest) -> HttpResponse:
    """List templates.

    Lists the templates of the key's environment by name.
    """
    rows = scoped(models.Template, request.scope).order_by(Lower("name"), "name", "id")
    return envelope(Templates, rows, request.GET, template_of, size_of_contents)


@operation("readTemplate", "GET /templates/{template_id}", Template, "The template.")
@expensive_work()
def read_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Read a template.

    Reads one template.
    """
    return json_response(template_of(existing(scoped(models.Template, request.scope).filter(pk=template_id).first())))


@operation(
    "deleteTemplate",
    "DELETE /templates/{template_id}",
    None,
    "It is deleted. The answer has no body.",
    status=204,
    refuses=("conflict_bulk_send",),
)
def delete_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Delete a template.

    Deletes the template. Requests from it stay, and so do its documents while anything else uses them.
    """
    existing(scoped(models.Template, request.scope).filter(pk=template_id).exists())
    delete(request.scope, template_id, actor(request))
    return no_content()


@operation(
    "sendTemplate",
    "POST /templates/{template_id}/signature_requests",
    CreatedSignatureRequest,
    "The request. It is `pending`, and so are its signers.",
    status=201,
    accepts=(KEY,),
    body=Body(TemplateSending, "Who signs, under the root key. At most 4 MiB."),
    refuses=_SENDING,
)
@expensive_work()
def send_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Create a signature request from a template.

    Creates a request with one signer for each role. Any option of a creation may be given too, and is then used instead
    of the template's. The rest is as with a creation.
    """
    is_there = scoped(models.Template, request.scope).filter(pk=template_id).exists()
    if not is_there and "Idempotency-Key" not in request.headers:  # a repeated call finds what the first one made
        raise refused("not_found")
    create = partial(send, template_id=template_id)
    return create_once(request, TemplateSendingInput, create)
