"""Signature requests (rules 4.5 to 4.7)."""

from collections.abc import Callable
from functools import partial

from django.http import HttpResponse

from paraph.api.v1 import body, idempotent
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.codes import CREATION
from paraph.api.v1.filters import EXTERNAL_ID, filters, selection
from paraph.api.v1.operation import KEY, Body, operation
from paraph.api.v1.pagination import PAGING, page_answer, page_of, page_of_rows, require_readable
from paraph.api.v1.responses import json_response
from paraph.api.v1.signature_requests import output
from paraph.api.v1.signature_requests.reading import Answer, download_urls, own, read, size_of_fields
from paraph.flow.sending.create import Sender, create
from paraph.idempotency.held_key import Beside, HeldKey
from paraph.kernel.places import expensive_work
from paraph.server.client_address import origin
from paraph.signature_requests.input import Creation, SignatureRequestInput
from paraph.signature_requests.localized import accepted_locale
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.signature_requests.values import Input
from paraph.tenants.scope import TenantScope, scoped

REQUEST_BODY = Body(Creation, "The request, under the root key. At most 4 MiB.")
Create = Callable[[TenantScope, object, Sender, str, Beside], int]


@operation(
    "createSignatureRequest",
    "POST /signature_requests",
    output.CreatedSignatureRequest,
    "The request. It is `pending`, and so are its signers.",
    status=201,
    accepts=(KEY,),
    body=REQUEST_BODY,
    refuses=CREATION,
)
def create_signature_request(request: ApiRequest) -> HttpResponse:
    """Create a signature request.

    Creates a request from uploaded documents. Everything is checked first, stamps against the pages of the PDFs too;
    whatever is wrong is named in one message, each problem with its path, and nothing is created. Each signer's
    `signing_url` is in the answer. With `send_email` the service invites by e-mail: everybody in `parallel` mode, one
    after the other in `sequential` mode. A repeated call creates another request, unless it names the same
    `Idempotency-Key`.
    """
    return idempotent.with_key(request, partial(create_once, request, SignatureRequestInput, create))


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


@operation(
    "listSignatureRequests",
    "GET /signature_requests",
    output.SignatureRequests,
    "A page of requests, without `download_urls`.",
    accepts=(*PAGING, *filters(RequestStatus.values), EXTERNAL_ID),
    refuses=("validation_filters:requests", "validation_too_much"),
)
@expensive_work()
def list_signature_requests(request: ApiRequest) -> HttpResponse:
    """List signature requests.

    Lists the requests of the key's environment, oldest first unless `order` says otherwise.
    """
    asked, page = selection(request.GET, RequestStatus.values, EXTERNAL_ID), page_of(request.GET)
    rows = scoped(SignatureRequest, request.scope)
    count, entries = page_of_rows(rows, "signature_requests", request.scope, asked, page)
    ids = dict(entries.values_list("pk", "has_fields"))
    if any(ids.values()):
        require_readable(list(ids), size_of_fields)
    return page_answer(output.SignatureRequests, page, count, read(request.scope, ids))


@operation(
    "readSignatureRequest",
    "GET /signature_requests/{request_id}",
    output.SignatureRequest,
    "The request; once it is completed and finalized, with `download_urls`.",
)
def read_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """Read a signature request.

    Reads one request. Wait for `finalized`, not for `status`, before you download: sealing follows the last signature.
    `status` is what to go by when you reconcile.
    """
    return json_response(shown(request.scope, request_id))


def shown(scope: TenantScope, request_id: int) -> Answer:
    """Return one of the caller's requests as a read answers it. Raises ``not_found``."""
    found = own(scope, request_id)
    if found["finalized"] and found["status"] == RequestStatus.COMPLETED:
        found["download_urls"] = download_urls(request_id)
    return found
