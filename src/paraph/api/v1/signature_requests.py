"""Signature requests (specification 4.5 to 4.7)."""

from django.db.models import Prefetch
from django.http import HttpResponse

from paraph.api.v1 import body, serialize
from paraph.api.v1.auth import ApiRequest, prefetch
from paraph.api.v1.counted_pages import page_of_rows
from paraph.api.v1.errors import not_found
from paraph.api.v1.filters import selection
from paraph.api.v1.pagination import page_answer, page_of
from paraph.api.v1.responses import json_response
from paraph.flow.sending.create import create
from paraph.server.client_address import origin
from paraph.signature_requests.accepted_locales import accepted_locales
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.reading import LARGE, loaded_request, prefetched_request, reading, with_put_off
from paraph.tenants.scope import scoped


def create_signature_request(request: ApiRequest) -> HttpResponse:
    """Creates a signature request from uploaded documents. Its language is the first that the call accepts."""
    payload = body.read(request, "signature_request")
    [locale, *_] = [*accepted_locales(request.headers.get("Accept-Language", "")), ""]
    created = create(request.caller, payload, origin(request), locale)
    return json_response(serialize.created_request(created), 201)


def list_signature_requests(request: ApiRequest) -> HttpResponse:
    """Lists the signature requests of the key's environment."""
    asked, page = selection(request.GET, RequestStatus.values), page_of(request.GET)
    signers = Prefetch("signers", with_put_off(Signer.objects.defer(*LARGE)))
    rows = scoped(SignatureRequest, request.caller).select_related("branding_profile")
    rows = rows.prefetch_related(signers, "request_documents")
    count, entries = page_of_rows(rows, "signature_requests", request.caller, asked, page)
    return page_answer(page, count, entries, _listed)


@prefetch(reading)
def read_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:  # noqa: ARG001
    """Reads a signature request; once it is completed and finalized, with the addresses of its results."""
    if request.prefetched is None:
        raise not_found()
    return json_response(serialize.read_request(prefetched_request(request.prefetched)))


def _listed(row: SignatureRequest) -> serialize.Json:
    return serialize.listed_request(loaded_request(row, row.request_documents.all(), row.signers.all()))
