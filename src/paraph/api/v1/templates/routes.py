"""Templates, and signature requests from them."""

from functools import partial

from django.db.models.functions import Lower
from django.http import HttpResponse
from pydantic import BaseModel

from paraph.api.v1 import body, idempotent
from paraph.api.v1.actor import actor
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.endpoint import takes
from paraph.api.v1.pagination import PAGING, envelope
from paraph.api.v1.problems import not_found
from paraph.api.v1.responses import json_response, no_content
from paraph.api.v1.signature_requests.routes import create_once
from paraph.api.v1.templates.output import Templates, template_of
from paraph.flow.ending.delete_template import delete_oldest_templates
from paraph.flow.ending.delete_template import delete_template as delete
from paraph.flow.sending.keep_template import keep_template
from paraph.flow.sending.send_template import send_template as send
from paraph.idempotency.held_key import Beside, HeldKey
from paraph.kernel.places import expensive_work
from paraph.request_templates.content import size_of_placements
from paraph.request_templates.input import TemplateInput, TemplateSendingInput
from paraph.request_templates.models import Template
from paraph.signature_requests.accepted_locales import accepted_locale
from paraph.tenants.scope import scoped


def create_template(request: ApiRequest) -> HttpResponse:
    """Create a template from uploaded documents. Its language is the first that the call accepts."""
    return idempotent.with_key(request, "templates", partial(_create, request))


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


@takes(*PAGING)
@expensive_work()
def list_templates(request: ApiRequest) -> HttpResponse:
    """List the templates of the key's environment by name."""
    rows = scoped(Template, request.scope).order_by(Lower("name"), "name", "id")
    return envelope(Templates, rows, request.GET, template_of, size_of_placements)


@expensive_work()
def read_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Read a template."""
    found = scoped(Template, request.scope).filter(pk=template_id).first()
    if found is None:
        raise not_found()
    return json_response(template_of(found))


def delete_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Delete a template. Requests from it stay."""
    if not scoped(Template, request.scope).filter(pk=template_id).exists():
        raise not_found()
    delete(request.scope, template_id, actor(request))
    return no_content()


@expensive_work()
def send_template(request: ApiRequest, template_id: int) -> HttpResponse:
    """Create a signature request from a template. Its language is the first that the call accepts, else that of the
    template."""
    is_there = scoped(Template, request.scope).filter(pk=template_id).exists()
    if not is_there and "Idempotency-Key" not in request.headers:  # a repeated call finds what the first one made
        raise not_found()
    path = f"templates/{template_id}/signature_requests"
    create = partial(send, template_id=template_id)
    return idempotent.with_key(request, path, partial(create_once, request, TemplateSendingInput, create))
