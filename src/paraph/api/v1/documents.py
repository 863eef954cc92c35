"""Documents (rules 4.2 to 4.4)."""

from functools import partial
from typing import Any, NamedTuple, Self, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.translation import gettext as _
from pydantic import Field

from paraph.api.v1 import call
from paraph.api.v1.codes import IDEMPOTENCY
from paraph.api.v1.document_shapes import Document, Documents, DocumentWithDownload, Preflight, UploadedDocument
from paraph.api.v1.endpoint import KEY, ApiRequest, Body, existing, json_response, operation, query
from paraph.api.v1.lists import PAGING, filters, page_answer, page_of, page_of_rows, selection
from paraph.api.v1.shapes import LINK_SECONDS, Output, Points
from paraph.documents import models
from paraph.documents.models import DocumentStatus
from paraph.documents.refusals import sentence_of
from paraph.flow.housekeeping.make_room import room_for
from paraph.flow.sending.upload import IncomingFile, refuse_beyond_limit, upload
from paraph.idempotency.held_key import HeldKey
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import FoundTag, list_texts
from paraph.server.bodies import Readable, body_stream
from paraph.signature_requests.values import LONGEST_TAG, MOST_PAGES, InvalidValueError, text
from paraph.storage import store
from paraph.tenants.scope import scoped, tenant_key

ACCEPT = "accept_drawn_differently"
_ACCEPT = query(
    ACCEPT,
    "Take a file with text that a second renderer draws otherwise than signers see it. Without it such a file is "
    "refused, with the numbers of its pages.",
    type="boolean",
    default=False,
) | {"example": False}
_UPLOAD = Body(
    {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "format": "binary", "description": "The PDF."}},
    },
    "One file. Other fields are ignored.",
    media="multipart/form-data",
    more={"encoding": {"file": {"contentType": "application/pdf"}}},
)
_UPLOAD_REFUSALS = (
    *IDEMPOTENCY, "request_timeout", "unavailable", "insufficient_storage_quota", "insufficient_storage_disk",
    "payload_too_large:file", "unsupported_media_type:form", "validation_mime_type", "validation_not_a_pdf",
    "validation_drawn_differently", "validation_accept", "validation_no_file",
)  # fmt: skip


@operation(
    "uploadDocument",
    "POST /documents",
    UploadedDocument,
    "The document, with `preflight`.",
    status=201,
    accepts=(KEY, _ACCEPT),
    body=_UPLOAD,
    refuses=_UPLOAD_REFUSALS,
)
def upload_document(request: ApiRequest) -> HttpResponse:
    """Upload a PDF.

    Stores the file as it is and answers with its digest. The part must be of the MIME type `application/pdf`, in
    capital or small letters, with or without parameters; its file name is what the proof file calls the document.
    Password-protected files, dynamic forms and files whose earlier signature forbids changes are refused with the
    reason. What else you may want to know, of scripts and earlier signatures for example, stands in `preflight`.
    """
    with call.key_of(request) as key:
        return _upload(request, key)


def _upload(request: ApiRequest, key: HeldKey | None) -> HttpResponse:
    if request.content_type != "multipart/form-data":
        raise DomainError("unsupported_media_type", _("The Content-Type must be multipart/form-data."))
    accepted = _accepts(request)
    with room_for(request.scope, _announced_size(request)), store.stage() as draft:
        file = IncomingFile(draft)
        part = _receive_file(request, file)

        make = partial(upload, request.scope, file, part.name, part.content_type, accept_drawn_differently=accepted)
        return call.created_once(
            key,
            [file.sha256.hex(), part.name, *["accepted"] * accepted],
            lambda extra_rows: make(extra_rows=extra_rows),
            lambda document_id: scoped(models.Document, request.scope).filter(pk=document_id).first(),
            lambda made: UploadedDocument.of(made, preflight=_preflight(made)),
        )


def _accepts(request: ApiRequest) -> bool:
    values = request.GET.getlist(ACCEPT)
    if values in ([], ["false"], ["true"]):
        return values == ["true"]
    message = _("%(name)s must be %(expected)s, not “%(value)s”.")
    expected = _("one of %(values)s") % {"values": "true, false"}
    told = {"name": ACCEPT, "expected": expected, "value": ", ".join(values)[:100]}
    raise DomainError("validation_error", message % told)


_PIECE = 256 * 1024  # bytes that are read at first
_BESIDE_THE_FILE = 16 * 1024 * 1024  # bytes of the other fields and of the lines between fields
_TAIL = 256  # bytes: the longest boundary, its dashes and line ends


class _FilePart(NamedTuple):
    """What the body says of a file."""

    field: str
    name: str
    content_type: str


def _announced_size(request: HttpRequest) -> int:
    """Return how many bytes the file has at most, by the declared length of the body; 0 where none is declared."""
    length = request.META.get("CONTENT_LENGTH") or ""
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024
    return min(int(length), most) if length.isascii() and length.isdigit() else 0


def _receive_file(request: HttpRequest, file: IncomingFile) -> _FilePart:
    """Write the file of the body to ``file`` as it arrives. Raise ``payload_too_large`` as soon as it passes the limit,
    ``validation_error`` for a broken body, no file or more than one."""
    parts = _receive(request, file)
    named = [part for part in parts if part.field == "file"]
    if not named:
        message = _("The body must contain a file in the field “%(field)s”, with a file name in UTF-8.")
        raise DomainError("validation_error", message % {"field": "file"})
    if len(parts) > 1:
        raise DomainError("validation_error", _("The body must contain only one file."))
    return named[0]


def _receive(request: HttpRequest, file: IncomingFile) -> list[_FilePart]:
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024 + _BESIDE_THE_FILE
    stream, length = body_stream(request, most)
    if length is not None and length > most:
        refuse_beyond_limit(length)  # by the declared length, before any of it is read
    body, handler = _Body(stream), _Receiving(file)
    declared = {**request.META, "CONTENT_LENGTH": "1"}  # the parser wants a length, but reads to the end
    try:
        MultiPartParser(declared, cast(Any, body), [handler], "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation) as error:  # too many or too large fields beside the file
        raise _broken() from error
    if not body.tail.rstrip(b"\r\n").endswith(b"--"):  # the last boundary, without which the file may be cut
        raise _broken()
    return handler.parts


def _broken() -> DomainError:
    return DomainError("validation_error", _("The multipart body is malformed."))


class _Body:
    """A body that remembers its end as ``tail``, with the headers of its first part in UTF-8, whatever they came in."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._begun = _in_utf_8(stream.read(_PIECE))
        self.tail = b""

    def read(self, size: int) -> bytes:
        block = self._begun[:size] or self._stream.read(size)
        self._begun = self._begun[size:]
        self.tail = (self.tail + block)[-_TAIL:]
        return block


def _in_utf_8(begun: bytes) -> bytes:
    """Return the bytes with file names in UTF-8 (RFC 7578, 5.1). Old systems write them in Latin-1, which is read as
    Windows-1252, as browsers do."""
    head, gap, rest = begun.partition(b"\r\n\r\n")
    try:
        head.decode()
    except UnicodeDecodeError:
        return head.decode("cp1252", errors="replace").encode() + gap + rest if gap else begun
    return begun


class _Receiving(FileUploadHandler):
    """Write a file as it arrives, never beyond the limit. Of several files only the first is written: the body is
    refused later."""

    chunk_size = 64 * 1024

    def __init__(self, file: IncomingFile) -> None:
        super().__init__()
        self.parts = list[_FilePart]()
        self._file = file

    def new_file(self, field_name: str, file_name: str, content_type: str, *_rest: Any) -> None:
        self.parts.append(_FilePart(field_name, file_name, content_type.lower()))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        refuse_beyond_limit(start + len(raw_data))
        if len(self.parts) == 1:
            self._file.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """Nothing is left to do."""


@operation(
    "listDocuments",
    "GET /documents",
    Documents,
    "A page of documents, without `download_url` and `preflight`.",
    accepts=(*PAGING, *filters(DocumentStatus.values)),
    refuses=("validation_filters:documents",),
)
def list_documents(request: ApiRequest) -> HttpResponse:
    """List documents.

    Lists the documents of the key's environment, oldest first unless `order` says otherwise.
    """
    asked, page = selection(request.GET, DocumentStatus.values), page_of(request.GET)
    rows = scoped(models.Document, request.scope).defer("pages", "preflight")
    count, entries = page_of_rows(rows, "documents", request.scope, asked, page)
    return page_answer(Documents, page, count, map(Document.of, entries))


@operation(
    "readDocument",
    "GET /documents/{document_id}",
    DocumentWithDownload,
    "The document, with `download_url` and `preflight`.",
)
def read_document(request: ApiRequest, document_id: int) -> HttpResponse:
    """Read a document.

    Reads one document, with an address to download the uploaded file from for 15 minutes.
    """
    row = existing(scoped(models.Document, request.scope).filter(pk=document_id).first())
    ready = row.status == DocumentStatus.READY and row.file_deleted_at is None
    address = store.presign(row.object_key, row.name, LINK_SECONDS) if ready else None
    return json_response(DocumentWithDownload.of(row, preflight=_preflight(row), download_url=address))


def _preflight(row: models.Document) -> Preflight | None:
    report = row.report()
    return Preflight.build(**report) if report else None


MOST_TAGS = 500
_TEXT = query(
    "text",
    "Another text, verbatim, capital letters too. Blanks and line breaks do not count.",
    type="string",
    minLength=1,
    maxLength=LONGEST_TAG,
)


class DocumentTag(Output):
    """A text that a magic field can name, and where its ink is, in points of the page as a reader sees it, origin at
    the bottom left. Of a text over several lines it is that of the last."""

    tag: str = Field(min_length=1, description="As it stands in the PDF, with its braces.")
    page_number: int = Field(ge=1, le=MOST_PAGES, description="From 1.")
    x: Points = Field(description="Points from the left edge of the page.", json_schema_extra={"minimum": 0})
    y: Points = Field(description="Points from the bottom edge of the page.", json_schema_extra={"minimum": 0})
    width: Points = Field(ge=0, description="Points.")
    height: Points = Field(ge=0, description="Points.")

    @classmethod
    def of(cls, found: tuple[str, FoundTag]) -> Self:
        tag, at = found
        return cls.build(tag=tag, page_number=at.page_number, x=at.x, y=at.y, width=at.width, height=at.height)


class DocumentTags(Output):
    """Every place of the tags of a document."""

    data: list[DocumentTag] = Field(max_length=MOST_TAGS, description="In reading order; the first 500.")


@operation(
    "listDocumentTags",
    "GET /documents/{document_id}/tags",
    DocumentTags,
    "The tags, in reading order.",
    accepts=(_TEXT,),
    refuses=("unavailable", "validation_text", "gone_file", "conflict_pending"),
)
def list_document_tags(request: ApiRequest, document_id: int) -> HttpResponse:
    """List the tags of a document.

    Lists what stands in double braces, such as `{{signature:landlord}}`, wherever it does: what magic fields can name.
    With `text`, the places of another text.
    """
    row = existing(scoped(models.Document, request.scope).filter(pk=document_id).first())
    wanted = _wanted(request.GET)
    if row.file_deleted_at:
        raise DomainError("gone", _("The file of document %(document)d has been deleted.") % {"document": row.pk})
    if row.status != DocumentStatus.READY:
        raise DomainError("conflict", _("document %(document)d is not ready yet.") % {"document": row.pk})
    try:
        found = list_texts(
            partial(store.get, row.shown_key), wanted, tenant_key=tenant_key(row), sha256=row.shown_sha256
        )
    except PdfRefused as unreadable:
        raise DomainError("validation_error", sentence_of(unreadable)) from unreadable
    return json_response(DocumentTags.build(data=[DocumentTag.of(each) for each in found]))


def _wanted(asked_for: QueryDict) -> str:
    """Return the text that is asked for; "" for what stands in double braces."""
    given = asked_for.getlist("text")
    if len(given) > 1:
        raise DomainError("validation_error", _("%(name)s is given more than once.") % {"name": "text"})
    try:
        return text(given[0], LONGEST_TAG) if given else ""
    except InvalidValueError as wrong:
        raise DomainError("validation_error", f"text: {wrong}") from wrong
