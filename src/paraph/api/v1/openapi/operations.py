"""The operations of the API, in the order in which the OpenAPI document lists them."""

from collections.abc import Iterator

from django.urls import URLPattern, path

from paraph.api.v1 import sandbox_acts
from paraph.api.v1.audit_logs.routes import list_audit_logs
from paraph.api.v1.branding_profiles import list_branding_profiles
from paraph.api.v1.documents.routes import list_documents, read_document, upload_document
from paraph.api.v1.documents.tags import list_document_tags
from paraph.api.v1.drafts import create_draft, read_draft
from paraph.api.v1.endpoint import endpoint
from paraph.api.v1.events.routes import list_events
from paraph.api.v1.health import read_health
from paraph.api.v1.operation import Operation
from paraph.api.v1.signature_requests.acts import end_signature_request, remind_signer
from paraph.api.v1.signature_requests.preview import preview_signature_request
from paraph.api.v1.signature_requests.routes import (
    create_signature_request,
    list_signature_requests,
    read_signature_request,
)
from paraph.api.v1.templates.routes import (
    create_template,
    delete_template,
    list_templates,
    read_template,
    send_template,
)

OPERATIONS: list[Operation] = [
    upload_document,
    list_documents,
    read_document,
    list_document_tags,
    create_signature_request,
    preview_signature_request,
    list_signature_requests,
    read_signature_request,
    end_signature_request,
    remind_signer,
    list_audit_logs,
    create_template,
    list_templates,
    read_template,
    delete_template,
    send_template,
    create_draft,
    read_draft,
    list_events,
    list_branding_profiles,
    sandbox_acts.sign,
    sandbox_acts.expire,
    sandbox_acts.decline,
    read_health,
]


def routes() -> Iterator[URLPattern]:
    """Yield what answers each path."""
    by_path: dict[str, dict[str, Operation]] = {}
    for each in OPERATIONS:
        by_path.setdefault(each.path, {})[each.method] = each
    for address, methods in by_path.items():
        route = address.replace("{", "<int:").replace("}", ">")
        yield path(f"api/v1{route}", endpoint(**methods))
