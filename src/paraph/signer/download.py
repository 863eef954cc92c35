"""The files that a signer takes along: ``…/documents/{id}.pdf`` before signing, ``…/documents/{id}/copy.pdf`` and
``…/proof.pdf`` after, with a ticket (:mod:`paraph.signature_requests.tickets`)."""

from collections.abc import Callable
from typing import BinaryIO

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.record import proof_name, signed_name
from paraph.flow.signing.copy_to_read import DrawnCopy, copy_to_read
from paraph.server.file_response import file_response
from paraph.signature_requests import tickets
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signer.authentication import got, require_reader
from paraph.signer.described import described, query
from paraph.signer.documents import document_of
from paraph.storage import store

_TICKET = query("ticket", "From the header `X-Copy-Ticket` of the answer to the signature.", required=True)


@got()
@described("GET /documents/{document_id}.pdf", "downloadUnsigned", "The PDF.", "application/pdf")
def unsigned(request: HttpRequest, signer: Signer, document_id: int) -> HttpResponseBase:
    """Download a document to read.

    The document before it is signed, as it is shown, for those who may read it: from the invitation until the
    signature, also before one's turn. In `sequential` mode with what those before have filled in, under their names.
    """
    require_reader(signer)
    document = document_of(signer, document_id)
    return _file(request, lambda: copy_to_read(signer, document), document.name)


@got()
@described("GET /documents/{document_id}/copy.pdf", "downloadCopy", "The PDF.", "application/pdf", query=(_TICKET,))
def copy(request: HttpRequest, signer: Signer, document_id: int) -> HttpResponseBase:
    """Download the sealed document.

    The signer's own copy, once `progress` is `ready`.
    """
    _require_ticket(request, signer)
    document = document_of(signer, document_id)
    row = SealedDocument.objects.get(request_document__request=signer.request_id, request_document__document=document)
    return _file(request, lambda: store.open(row.object_key), signed_name(document.name))


@got()
@described("GET /proof.pdf", "downloadProof", "The PDF.", "application/pdf", query=(_TICKET,))
def proof(request: HttpRequest, signer: Signer) -> HttpResponseBase:
    """Download the proof.

    The sealed proof file, once `progress` is `ready`.
    """
    _require_ticket(request, signer)
    row = ProofFile.objects.get(request=signer.request_id)
    return _file(request, lambda: store.open(row.object_key), proof_name(signer.request_id))


def _require_ticket(request: HttpRequest, signer: Signer) -> None:
    if signer.status != SignerStatus.SIGNED or not tickets.holds(signer, request.GET.get("ticket", "")):
        raise translated("not_found", "copy_over")
    if not signer.request.finalized:
        raise translated("not_found", "not_sealed")
    if signer.request.files_deleted_at:
        raise translated("not_found", "file_gone")


def _file(request: HttpRequest, find: Callable[[], BinaryIO], name: str) -> HttpResponseBase:
    try:
        file = find()
    except FileNotFoundError as error:
        raise translated("not_found", "file_gone") from error
    response = file_response(request, file, name, in_parts=not isinstance(file, DrawnCopy))
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
