"""Signature requests (specification 4.5 to 4.7)."""

import json

from django.db.models import Prefetch
from django.http import HttpResponse

from paraph.api.v1 import body, serialize
from paraph.api.v1.auth import ApiRequest, asks
from paraph.api.v1.errors import not_found
from paraph.api.v1.filters import selection
from paraph.api.v1.long_lists import page_of_rows
from paraph.api.v1.pagination import page_answer, page_of
from paraph.api.v1.responses import json_bytes, json_response
from paraph.flow.create import create
from paraph.journal.client_address import origin
from paraph.organizations.scope import scoped
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.reading import LARGE, is_finalized, reading, shown


def create_signature_request(request: ApiRequest) -> HttpResponse:
    """Creates a signature request from uploaded documents."""
    created = create(request.caller, body.read(request, "signature_request"), origin(request))
    return json_response(serialize.created_request(created), 201)


def list_signature_requests(request: ApiRequest) -> HttpResponse:
    """Lists the signature requests of the key's environment."""
    asked, page = selection(request.GET, RequestStatus.values), page_of(request.GET)
    signers = Prefetch("signers", Signer.objects.defer(*LARGE))
    rows = scoped(SignatureRequest, request.caller).select_related("branding_profile")
    loaded = rows.prefetch_related(signers, "request_documents")
    count, entries = page_of_rows(loaded, "signature_requests", request.caller, asked, page)
    return page_answer(page, count, entries, serialize.request)


@asks(reading)
def read_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """Reads a signature request; once it is completed and finalized, with the addresses of its results."""
    if request.found is None:
        raise not_found()
    text = shown(request.found)
    if not is_finalized(text):
        return json_bytes(text)
    content = json.loads(text)
    if content["status"] == RequestStatus.COMPLETED:
        content["download_urls"] = serialize.download_urls(request_id)
    return json_response(content)
