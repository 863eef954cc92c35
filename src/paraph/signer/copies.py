"""The files that people take along. Signers get the documents to read before they sign, and afterwards the sealed
documents and the proof, with a ticket (:mod:`paraph.signature_requests.links`); recipients of copies, who take no other
part, get the sealed documents and the proof from ``/copies/{token}``."""

from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.sealed_files import proof_name
from paraph.flow.messages.copies import mail_recipient, was_mailed
from paraph.flow.signing.shown_documents import DrawnCopy, copy_to_read
from paraph.flow.signing.sign import masked
from paraph.kernel.errors import DomainError
from paraph.pdf.asic import signed_name
from paraph.server.bodies import file_response
from paraph.signature_requests import links
from paraph.signature_requests.links import RecipientLink, link_of
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Signer, SignerStatus
from paraph.signer import answers, language
from paraph.signer.described import described, query
from paraph.signer.documents import document_of
from paraph.signer.endpoints import READING, got, require_reader
from paraph.signer.notice import mail_on_request, notice
from paraph.signer.shell import show
from paraph.storage import store
from paraph.tenants.scope import answer_for

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
    return _file(request, document.name, lambda: copy_to_read(signer, document))


@got()
@described("GET /documents/{document_id}/copy.pdf", "downloadCopy", "The PDF.", "application/pdf", query=(_TICKET,))
def signers_copy(request: HttpRequest, signer: Signer, document_id: int) -> HttpResponseBase:
    """Download the sealed document.

    The signer's own copy, once `progress` is `ready`.
    """
    _require_ticket(request, signer)
    document_of(signer, document_id)
    return _sealed(request, signer.request_id, document_id)


@got()
@described("GET /proof.pdf", "downloadProof", "The PDF.", "application/pdf", query=(_TICKET,))
def signers_proof(request: HttpRequest, signer: Signer) -> HttpResponseBase:
    """Download the proof.

    The sealed proof file, once `progress` is `ready`.
    """
    _require_ticket(request, signer)
    return _proof(request, signer.request_id)


def _require_ticket(request: HttpRequest, signer: Signer) -> None:
    if signer.status != SignerStatus.SIGNED or not links.holds(signer, request.GET.get("ticket", "")):
        raise translated("not_found", "copy_over")
    if not signer.request.finalized:
        raise translated("not_found", "not_sealed")
    if signer.request.files_deleted_at:
        raise translated("not_found", "file_gone")


@csrf_exempt
@gzip_page
@require_http_methods(["GET", "HEAD", "POST"])
def copies(request: HttpRequest, token: str) -> HttpResponse:
    """List the files for a recipient, or say that the link is over and mail a new one to the recipient's own address.

    Exempt from the CSRF cookie: the secret in the address is all permission there is.
    """
    link = _link(token)
    if link is None:
        return notice(request, "not_found", status=404)
    page = partial(_page, request, link)
    if request.method == "POST":
        return mail_on_request(request, lambda: mail_recipient(link.recipient), page)
    return page()


def recipients_copy(request: HttpRequest, token: str, document_id: int) -> HttpResponseBase:
    """Return a sealed document."""
    return _of_link(request, token, lambda request_id: _sealed(request, request_id, document_id))


def recipients_proof(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the proof."""
    return _of_link(request, token, lambda request_id: _proof(request, request_id))


def _of_link(request: HttpRequest, token: str, file: Callable[[int], HttpResponseBase]) -> HttpResponseBase:
    try:
        if request.method not in READING:
            raise translated("method_not_allowed", "method", allowed="GET", method=request.method)
        link = _link(token)
        if link is None or link.is_over:
            raise translated("not_found", "copy_over")
        if link.recipient.request.files_deleted_at:
            raise translated("not_found", "file_gone")
        return file(link.recipient.request_id)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request))


def _link(token: str) -> RecipientLink | None:
    """Return the link that has the token, None for an unknown token. Expensive work is then done on behalf of the
    organization, as for its signers."""
    link = link_of(token)
    if link:
        answer_for(link.recipient.request)
    return link


def _page(request: HttpRequest, link: RecipientLink, *, problem: str = "", status: int = 200) -> HttpResponse:
    """Show the page of a recipient. ``problem``: the name of the words that say why no new link was mailed."""
    recipient, found = link.recipient, link.recipient.request
    rows = found.request_documents.select_related("document").order_by("position")
    content: dict[str, Any] = {
        "state": "gone" if found.files_deleted_at else "over" if link.is_over else "copies",
        "path": request.path,
        "until": link.until,
        "documents": [row.document for row in rows],
        "copy_to": masked(recipient.email),
        "is_mailed": "mailed" in request.GET and was_mailed(recipient),
        "problem": problem,
    }
    return show(request, "signer/copies.html", content, found=found, status=status)


def _sealed(request: HttpRequest, request_id: int, document_id: int) -> HttpResponseBase:
    rows = SealedDocument.objects.select_related("request_document__document")
    row = rows.filter(request_document__request=request_id, request_document__document=document_id).first()
    if row is None:
        raise translated("not_found", "nothing_here")
    return _file(request, signed_name(row.request_document.document.name), lambda: store.open(row.object_key))


def _proof(request: HttpRequest, request_id: int) -> HttpResponseBase:
    key = ProofFile.objects.get(request=request_id).object_key
    return _file(request, proof_name(request_id), lambda: store.open(key))


def _file(request: HttpRequest, name: str, find: Callable[[], BinaryIO]) -> HttpResponseBase:
    try:
        file = find()
    except FileNotFoundError as error:
        raise translated("not_found", "file_gone") from error
    response = file_response(request, file, name, in_parts=not isinstance(file, DrawnCopy))
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
