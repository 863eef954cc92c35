"""Signature requests (specification 4.5 to 4.7)."""

from django.db.models import Prefetch
from ninja import Router

from paraph.api.v1 import body, schemas, serialize
from paraph.api.v1.answers import Answer, answer
from paraph.api.v1.auth import ApiRequest, prefetch
from paraph.api.v1.counted_pages import page_of_rows
from paraph.api.v1.errors import not_found
from paraph.api.v1.filters import selection
from paraph.api.v1.openapi_parts import CREATION, REQUEST_LIST
from paraph.api.v1.pagination import page_answer, page_of
from paraph.flow.create import create
from paraph.journal.client_address import origin
from paraph.organizations.scope import scoped
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.reading import LARGE, loaded_request, prefetched_request, reading

router = Router(tags=["Signature requests"])


@router.post(
    "", response={201: schemas.CreatedSignatureRequest}, operation_id="createSignatureRequest", openapi_extra=CREATION
)
def create_signature_request(request: ApiRequest) -> Answer:
    """Creates a signature request from uploaded documents."""
    created = create(request.caller, body.read(request, "signature_request"), origin(request))
    return answer(serialize.created_request(created), 201)


@router.get("", response=schemas.SignatureRequests, operation_id="listSignatureRequests", openapi_extra=REQUEST_LIST)
def list_signature_requests(request: ApiRequest) -> Answer:
    """Lists the signature requests of the key's environment."""
    asked, page = selection(request.GET, RequestStatus.values), page_of(request.GET)
    signers = Prefetch("signers", Signer.objects.defer(*LARGE))
    rows = scoped(SignatureRequest, request.caller).select_related("branding_profile")
    rows = rows.prefetch_related(signers, "request_documents")
    count, entries = page_of_rows(rows, "signature_requests", request.caller, asked, page)
    return page_answer(page, count, entries, _listed)


@router.get("/{int:request_id}", response=schemas.SignatureRequest, operation_id="readSignatureRequest")
@prefetch(reading)
def read_signature_request(request: ApiRequest, request_id: int) -> Answer:  # noqa: ARG001  ``reading`` takes the id
    """Reads a signature request; once it is completed and finalized, with the addresses of its results."""
    if request.prefetched is None:
        raise not_found()
    return answer(serialize.read_request(prefetched_request(request.prefetched)))


def _listed(row: SignatureRequest) -> serialize.Json:
    return serialize.listed_request(loaded_request(row, row.request_documents.all(), row.signers.all()))
