"""``/copies/{token}``: the sealed files and the proof, for those who get copies and take no other part."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.record import proof_name, signed_name
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.messages.mail_copy import mail_recipient, was_mailed
from paraph.flow.signing.send_otp import masked
from paraph.kernel.errors import DomainError
from paraph.kernel.places import name_tenant
from paraph.server.file_response import file_response
from paraph.signature_requests.localized import translated
from paraph.signature_requests.tickets import RecipientLink, link_of
from paraph.signer import answers, language
from paraph.signer.answers import STATUSES, private
from paraph.signer.notice import notice, problem_of
from paraph.signer.posted_form import posted_form
from paraph.signer.shell import show
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_METHODS = ["GET", "HEAD", "POST"]
_Find = Callable[[int], tuple[str, str]]  # of a request's id: the object and the name that the file gets


@csrf_exempt
@gzip_page
def copies(request: HttpRequest, token: str) -> HttpResponse:
    """List the files, or tell that the link is over, and mail a new one to the recipient's own address.

    Exempt from the CSRF cookie: the secret in the address is all permission there is.
    """
    if request.method not in _METHODS:
        return HttpResponseNotAllowed(_METHODS)
    link = _link(token)
    if link is None:
        return notice(request, "not_found", status=404)
    if request.method == "POST":
        return _mail_again(request, link)
    return _page(request, link)


def document(request: HttpRequest, token: str, document_id: int) -> HttpResponseBase:
    """Return a sealed document."""

    def find(request_id: int) -> tuple[str, str]:
        rows = SealedDocument.objects.select_related("request_document__document")
        row = rows.filter(request_document__request=request_id, request_document__document=document_id).first()
        if row is None:
            raise translated("not_found", "nothing_here")
        return row.object_key, signed_name(row.request_document.document.name)

    return _file(request, token, find)


def proof(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the proof."""
    return _file(
        request,
        token,
        lambda request_id: (ProofFile.objects.get(request=request_id).object_key, proof_name(request_id)),
    )


def _link(token: str) -> RecipientLink | None:
    """Return whose link it is, None for a token that is nobody's. Expensive work is then done on behalf of the
    organization, as for its signers."""
    link = link_of(token)
    if link:
        name_tenant(tenant_key(link.recipient.request))
    return link


def _file(request: HttpRequest, token: str, find: _Find) -> HttpResponseBase:
    try:
        if request.method not in ("GET", "HEAD"):
            raise translated("method_not_allowed", "method", allowed="GET", method=request.method)
        link = _link(token)
        if link is None or link.is_over:
            raise translated("not_found", "copy_over")
        if link.recipient.request.files_deleted_at:
            raise translated("not_found", "file_gone")
        key, name = find(link.recipient.request_id)
        response = file_response(request, store.open(key), name)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request))
    except FileNotFoundError:
        return answers.refusal(translated("not_found", "file_gone"), language.of_answer(request))
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response


def _page(request: HttpRequest, link: RecipientLink, problem: str = "", status: int = 200) -> HttpResponse:
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


def _mail_again(request: HttpRequest, link: RecipientLink) -> HttpResponse:
    """Send the browser back to the address it came from (303), whose page then says that a link was mailed; or show the
    page with why it was not."""
    try:
        if posted_form(request).get("do") != "copy":
            return _page(request, link)
        mail_recipient(link.recipient)
    except DomainError as refusal:
        response = _page(request, link, problem_of(refusal), STATUSES.get(refusal.code, 503))
        if isinstance(refusal, TooManyMessagesError):
            response["Retry-After"] = str(refusal.retry_after)
        return response
    asked = {"lang": request.GET["lang"]} if "lang" in request.GET else {}
    return private(HttpResponseRedirect(f"{request.path}?{urlencode({**asked, 'mailed': 1})}", status=303))
