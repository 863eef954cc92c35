"""Templates, and signature requests from them."""

from functools import partial

from django.db.models.functions import Lower
from django.http import HttpResponse
from pydantic import BaseModel

from paraph.api.v1 import body, idempotent
from paraph.api.v1.actor import actor
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.codes import INPUT, MADE
from paraph.api.v1.operation import KEY, Body, operation
from paraph.api.v1.pagination import PAGING, envelope
from paraph.api.v1.problems import not_found
from paraph.api.v1.responses import json_response, no_content
from paraph.api.v1.signature_requests.output import CreatedSignatureRequest
from paraph.api.v1.signature_requests.routes import create_once
from paraph.api.v1.templates import output
from paraph.api.v1.templates.output import Templates, template_of
from paraph.flow.ending.delete_template import delete_oldest_templates
from paraph.flow.ending.delete_template import delete_template as delete
from paraph.flow.sending.keep_template import keep_template
from paraph.flow.sending.send_template import send_template as send
from paraph.idempotency.held_key import Beside, HeldKey
from paraph.kernel.places import expensive_work
from paraph.request_templates.input import TemplateCreation, TemplateInput, TemplateSending, TemplateSendingInput
from paraph.request_templates.models import Template
from paraph.request_templates.saving import size_of_contents
from paraph.signature_requests.accepted_locales import accepted_locale
from paraph.tenants.scope import scoped

_OPTIONS = (*MADE, *INPUT, "validation_json", "validation_unknown_field", "forbidden_sms:role")
_SENDING = (
    "insufficient_storage_requests",
    *_OPTIONS,
    "identity_declaration_required",
    "validation_roles",
    "validation_document:template",
)


@operation(
    "createTemplate",
    "POST /templates",
    output.Template,
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
    return idempotent.with_key(request, partial(_create, request))


def _create(request: ApiRequest, key: HeldKey | None) -> HttpResponse:
    payload = body.read(request, "template", TemplateInput)
    locale = accepted_locale(request.headers.get("Accept-Language", ""))

    def made(beside: Beside) -> BaseModel:
        kept = keep_template(request.scope, payload, locale, actor(request), beside)
        delete_oldest_templates(request.scope, actor(request))
        return template_of(scoped(Template, request.scope).get(pk=kept.pk))

    def made_before(template_id: int) -> BaseModel | None:
        found = scoped(Template, request.scope).filter(pk=template_id).first()
        return template_of(found) if found else None

    return idempotent.created_once(key, idempotent.content_of(payload) if key else b"", made, made_before)


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
    rows = scoped(Template, request.scope).order_by(Lower("name"), "name", "id")
    return envelope(Templates, rows, request.GET, template_of, size_of_contents)


@operation("readTemplate", "GET /templates/{template_id}", output.Template, "The template.")
@expensive_work()
def read_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Read a template.

    Reads one template.
    """
    found = scoped(Template, request.scope).filter(pk=template_id).first()
    if found is None:
        raise not_found()
    return json_response(template_of(found))


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
    if not scoped(Template, request.scope).filter(pk=template_id).exists():
        raise not_found()
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
    is_there = scoped(Template, request.scope).filter(pk=template_id).exists()
    if not is_there and "Idempotency-Key" not in request.headers:  # a repeated call finds what the first one made
        raise not_found()
    create = partial(send, template_id=template_id)
    return idempotent.with_key(request, partial(create_once, request, TemplateSendingInput, create))
