"""The files that a signer takes along: ``…/documents/{id}.pdf`` before signing, ``…/documents/{id}/copy.pdf`` and
``…/proof.pdf`` after, with a ticket (:mod:`paraph.signature_requests.copy_ticket`)."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.record import proof_name, signed_name
from paraph.kernel.errors import DomainError
from paraph.server.file_response import file_response
from paraph.signature_requests import copy_ticket
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import answers, language
from paraph.signer.authentication import found, require_reader
from paraph.signer.documents import document_of
from paraph.storage import store

_Find = Callable[[Signer], tuple[str, str]]  # the object and the name that the file gets


def unsigned(request: HttpRequest, token: str, document_id: int) -> HttpResponseBase:
    """Return the document as it is shown, for those who may read it."""

    def find(signer: Signer) -> tuple[str, str]:
        require_reader(signer)
        document = document_of(signer, document_id)
        return document.shown_key, document.name

    return _file(request, token, find)


def copy(request: HttpRequest, token: str, document_id: int) -> HttpResponseBase:
    """Return the sealed document, once it is there."""

    def find(signer: Signer) -> tuple[str, str]:
        _require_ticket(request, signer)
        document = document_of(signer, document_id)
        row = SealedDocument.objects.get(
            request_document__request=signer.request_id, request_document__document=document
        )
        return row.object_key, signed_name(document.name)

    return _file(request, token, find)


def proof(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the proof of the request, once it is there."""

    def find(signer: Signer) -> tuple[str, str]:
        _require_ticket(request, signer)
        return ProofFile.objects.get(request=signer.request_id).object_key, proof_name(signer.request_id)

    return _file(request, token, find)


def _require_ticket(request: HttpRequest, signer: Signer) -> None:
    if signer.status != SignerStatus.SIGNED or not copy_ticket.holds(signer, request.GET.get("ticket", "")):
        raise translated("not_found", "copy_over")
    if not signer.request.finalized:
        raise translated("not_found", "not_sealed")
    if signer.request.files_deleted_at:
        raise translated("not_found", "file_gone")


def _file(request: HttpRequest, token: str, find: _Find) -> HttpResponseBase:
    try:
        if request.method not in ("GET", "HEAD"):
            raise translated("method_not_allowed", "method", allowed="GET", method=request.method)
        key, name = find(found(token))
        response = file_response(request, store.open(key), name)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request))
    except FileNotFoundError:
        return answers.refusal(translated("not_found", "file_gone"), language.of_answer(request))
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
