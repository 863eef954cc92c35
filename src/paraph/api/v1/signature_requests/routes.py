"""Signature requests (rules 4.5 to 4.7)."""

from collections.abc import Callable
from functools import partial

from django.http import HttpResponse

from paraph.api.v1 import body, idempotent
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.endpoint import takes
from paraph.api.v1.filters import EXTERNAL_ID, FILTERS, selection
from paraph.api.v1.pagination import PAGING, page_answer, page_of, page_of_rows, require_readable
from paraph.api.v1.responses import json_response
from paraph.api.v1.signature_requests import output
from paraph.api.v1.signature_requests.reading import Answer, download_urls, own, read, size_of_fields
from paraph.flow.sending.create import Sender, create
from paraph.idempotency.held_key import Beside, HeldKey
from paraph.kernel.places import expensive_work
from paraph.server.client_address import origin
from paraph.signature_requests.accepted_locales import accepted_locale
from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.input_types import Input
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.tenants.scope import TenantScope, scoped

Create = Callable[[TenantScope, object, Sender, str, Beside], int]


def create_signature_request(request: ApiRequest) -> HttpResponse:
    """Create a signature request from uploaded documents. Its language is the first that the call accepts."""
    return idempotent.with_key(
        request, "signature_requests", partial(create_once, request, SignatureRequestInput, create)
    )


def create_once(request: ApiRequest, shape: type[Input], create: Create, key: HeldKey | None) -> HttpResponse:
    """Answer with the request that ``create`` makes of the body, or made of it before. ``shape``: what the body has
    under its root key."""
    payload = body.read(request, "signature_request", shape)
    locale = accepted_locale(request.headers.get("Accept-Language", ""))
    sender = Sender(origin(request))

    def made(beside: Beside) -> Answer:
        return created(own(request.scope, create(request.scope, payload, sender, locale, beside)))

    def made_before(request_id: int) -> Answer | None:
        return next(map(created, read(request.scope, [request_id])), None)

    return idempotent.created_once(key, idempotent.content_of(payload) if key else b"", made, made_before)


def created(found: Answer) -> Answer:
    """Return the request as a creation answers it."""
    del found["finalized"]
    return found


@takes(*PAGING, *FILTERS, EXTERNAL_ID)
@expensive_work()
def list_signature_requests(request: ApiRequest) -> HttpResponse:
    """List the signature requests of the key's environment."""
    asked, page = selection(request.GET, RequestStatus.values, EXTERNAL_ID), page_of(request.GET)
    rows = scoped(SignatureRequest, request.scope)
    count, entries = page_of_rows(rows, "signature_requests", request.scope, asked, page)
    ids = dict(entries.values_list("pk", "has_fields"))
    if any(ids.values()):
        require_readable(list(ids), size_of_fields)
    return page_answer(output.SignatureRequests, page, count, read(request.scope, ids))


def read_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """Read a signature request; once it is completed and finalized, with the addresses of its results."""
    return json_response(shown(request.scope, request_id))


def shown(scope: TenantScope, request_id: int) -> Answer:
    """Return one of the caller's requests as a read answers it. Raises ``not_found``."""
    found = own(scope, request_id)
    if found["finalized"] and found["status"] == RequestStatus.COMPLETED:
        found["download_urls"] = download_urls(request_id)
    return found
