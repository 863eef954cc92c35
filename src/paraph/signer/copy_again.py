"""``POST /sign/{token}`` after the signature, ``do=copy``: the link to the copy is mailed to the signer once more."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.messages.mail_copy import mail_copy
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Signer
from paraph.signer.answers import STATUSES, private
from paraph.signer.notice import notice
from paraph.signer.posted_form import posted_form


def mail_again(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Sends the browser back to the address it came from (303), whose page then says that it was mailed; or shows the
    page with why it was not. Any other form of a page from before the signature gets the page alone."""
    try:
        form = posted_form(request)
        if form.get("do") != "copy":
            return notice(request, "already_signed", signer)
        mail_copy(signer)
    except DomainError as refusal:
        status = STATUSES.get(refusal.code, 503)
        response = notice(request, "already_signed", signer, problem=_problem(refusal), status=status)
        if isinstance(refusal, TooManyMessagesError):
            response["Retry-After"] = str(refusal.retry_after)
        return response
    asked = {"lang": request.GET["lang"]} if "lang" in request.GET else {}
    return private(HttpResponseRedirect(f"{request.path}?{urlencode({**asked, 'mailed': 1})}", status=303))


def _problem(refusal: DomainError) -> str:
    if isinstance(refusal, TooManyMessagesError):
        return "copy_limit"
    return "delivery_failed" if refusal.code == "delivery_failed" else "failed"
