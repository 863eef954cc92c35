"""Documents (specification 4.2 to 4.4)."""

from ninja import Router

from paraph.api.v1 import multipart, schemas, serialize
from paraph.api.v1.answers import Answer, answer
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.errors import not_found
from paraph.api.v1.filters import selection
from paraph.api.v1.long_lists import page_of_rows
from paraph.api.v1.openapi_parts import DOCUMENT_LIST, UPLOAD
from paraph.api.v1.pagination import page_answer, page_of
from paraph.documents.models import Document, DocumentStatus
from paraph.flow.make_room import room_for
from paraph.flow.upload import Incoming, upload
from paraph.organizations.scope import scoped
from paraph.storage import store

router = Router(tags=["Documents"])


@router.post("", response={201: schemas.UploadedDocument}, operation_id="uploadDocument", openapi_extra=UPLOAD)
def upload_document(request: ApiRequest) -> Answer:
    """Uploads a PDF."""
    multipart.check_type(request)
    with room_for(request.caller, multipart.announced_size(request)), store.stage() as draft:
        file = Incoming(draft)
        part = multipart.receive_file(request, "file", file)
        document = upload(request.caller, file, part.name, part.content_type)
    return answer(serialize.document_with_preflight(document), 201)


@router.get("", response=schemas.Documents, operation_id="listDocuments", openapi_extra=DOCUMENT_LIST)
def list_documents(request: ApiRequest) -> Answer:
    """Lists the documents of the key's environment."""
    asked, page = selection(request.GET, DocumentStatus.values), page_of(request.GET)
    rows = scoped(Document, request.caller).defer("pages", "preflight")
    count, entries = page_of_rows(rows, "documents", request.caller, asked, page)
    return page_answer(page, count, entries, serialize.document)


@router.get("/{int:document_id}", response=schemas.DocumentWithDownload, operation_id="readDocument")
def read_document(request: ApiRequest, document_id: int) -> Answer:
    """Reads a document, with an address to download it from for 15 minutes."""
    document = scoped(Document, request.caller).filter(pk=document_id).defer("pages").first()
    if document is None:
        raise not_found()
    ready = document.status == DocumentStatus.READY
    address = store.presign(document.object_key, document.name, serialize.LINK_SECONDS) if ready else None
    return answer({**serialize.document_with_preflight(document), "download_url": address})
