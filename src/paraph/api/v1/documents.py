"""Documents (specification 4.2 to 4.4)."""

from django.http import HttpResponse

from paraph.api.v1 import serialize
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.counted_pages import page_of_rows
from paraph.api.v1.errors import not_found
from paraph.api.v1.filters import selection
from paraph.api.v1.pagination import page_answer, page_of
from paraph.api.v1.responses import json_response
from paraph.api.v1.upload import multipart
from paraph.documents.models import Document, DocumentStatus
from paraph.flow.sending.make_room import room_for
from paraph.flow.sending.upload import IncomingFile, upload
from paraph.storage import store
from paraph.tenants.scope import scoped


def upload_document(request: ApiRequest) -> HttpResponse:
    """Uploads a PDF."""
    multipart.check_type(request)
    with room_for(request.caller, multipart.announced_size(request)), store.stage() as draft:
        file = IncomingFile(draft)
        part = multipart.receive_file(request, "file", file)
        document = upload(request.caller, file, part.name, part.content_type)
    return json_response(serialize.document_with_preflight(document), 201)


def list_documents(request: ApiRequest) -> HttpResponse:
    """Lists the documents of the key's environment."""
    asked, page = selection(request.GET, DocumentStatus.values), page_of(request.GET)
    rows = scoped(Document, request.caller).defer("pages", "preflight")
    count, entries = page_of_rows(rows, "documents", request.caller, asked, page)
    return page_answer(page, count, entries, serialize.document)


def read_document(request: ApiRequest, document_id: int) -> HttpResponse:
    """Reads a document, with an address to download it from for 15 minutes."""
    document = scoped(Document, request.caller).filter(pk=document_id).defer("pages").first()
    if document is None:
        raise not_found()
    ready = document.status == DocumentStatus.READY and document.file_deleted_at is None
    address = store.presign(document.object_key, document.name, serialize.LINK_SECONDS) if ready else None
    return json_response({**serialize.document_with_preflight(document), "download_url": address})
