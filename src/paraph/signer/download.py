"""The files that a signer takes along: ``…/documents/{id}.pdf`` before signing, ``…/documents/{id}/copy.pdf`` and
``…/proof.pdf`` after, with a ticket (:mod:`paraph.signature_requests.copy_ticket`)."""

from collections.abc import Callable
from typing import BinaryIO

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.record import proof_name, signed_name
from paraph.flow.signing.copy_to_read import DrawnCopy, copy_to_read
from paraph.kernel.errors import DomainError
from paraph.server.file_response import file_response
from paraph.signature_requests import copy_ticket
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import answers, language
from paraph.signer.authentication import found, require_reader
from paraph.signer.documents import document_of
from paraph.storage import store

_Find = Callable[[Signer], tuple[BinaryIO, str]]  # the file and the name that it gets


def unsigned(request: HttpRequest, token: str, document_id: int) -> HttpResponseBase:
    """Return the document as it is shown, with what those before them filled in, for those who may read it."""

    def find(signer: Signer) -> tuple[BinaryIO, str]:
        require_reader(signer)
        document = document_of(signer, document_id)
        return copy_to_read(signer, document), document.name

    return _file(request, token, find)


def copy(request: HttpRequest, token: str, document_id: int) -> HttpResponseBase:
    """Return the sealed document, once it is there."""

    def find(signer: Signer) -> tuple[BinaryIO, str]:
        _require_ticket(request, signer)
        document = document_of(signer, document_id)
        row = SealedDocument.objects.get(
            request_document__request=signer.request_id, request_document__document=document
        )
        return store.open(row.object_key), signed_name(document.name)

    return _file(request, token, find)


def proof(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the proof of the request, once it is there."""

    def find(signer: Signer) -> tuple[BinaryIO, str]:
        _require_ticket(request, signer)
        file = store.open(ProofFile.objects.get(request=signer.request_id).object_key)
        return file, proof_name(signer.request_id)

    return _file(request, token, find)


def _require_ticket(request: HttpRequest, signer: Signer) -> None:
    if signer.status != SignerStatus.SIGNED or not copy_ticket.holds(signer, request.GET.get("ticket", "")):
        raise translated("not_found", "copy_over")
    if not signer.request.finalized:
        raise translated("not_found", "not_sealed")
    if signer.request.files_deleted_at:
        raise translated("not_found", "file_gone")


def _file(request: HttpRequest, token: str, find: _Find) -> HttpResponseBase:
    signer = None
    try:
        if request.method not in ("GET", "HEAD"):
            raise translated("method_not_allowed", "method", allowed="GET", method=request.method)
        signer = found(token)
        file, name = find(signer)
        response = file_response(request, file, name, in_parts=not isinstance(file, DrawnCopy))
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    except FileNotFoundError:
        return answers.refusal(translated("not_found", "file_gone"), language.of_answer(request))
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
