"""Pages that only tell something: why there is nothing to sign, how far the request is and where to go on once it is
signed, whether a mail with the copy is on its way, that the service has no time, who may get messages of a sandbox."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.deprecation import MiddlewareMixin
from django.utils.html import format_html
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_safe
from pydantic import Field

from paraph.database.outage import is_outage, outage_sentence
from paraph.flow.messages.copies import mails_leave, may_mail_copy, was_mailed
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.signing.sign import masked
from paraph.kernel.errors import DomainError
from paraph.kernel.places import NoPlaceError
from paraph.outbound.url import ascii_host
from paraph.signature_requests import links
from paraph.signature_requests.links import ReplacedLinkError, token
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing import documents_of
from paraph.signer import answers, language
from paraph.signer.answers import RETRY_AFTER_SECONDS, STATUSES, back, say_when
from paraph.signer.described import ABSENT, Answer, described
from paraph.signer.endpoints import from_dashboard, got, in_person, posted_form, signer_with_turn
from paraph.signer.shell import show
from paraph.tenants import confirmed_addresses

log = logging.getLogger("paraph.signer")

_STATUSES = {"expired": 410, "replaced": 410, "withdrawn": 410, "locked": 429, "not_found": 404}
_PAGES = ("/sign/", "/confirm/", "/copies/", "/verify")


def notice(
    request: HttpRequest,
    name: str,
    signer: Signer | None = None,
    *,
    until: datetime | None = None,
    problem: str = "",
    status: int = 0,
    found: SignatureRequest | None = None,
) -> HttpResponse:
    """Show a page that only tells something. ``name`` is its state: ``already_signed``, ``expired``, ``replaced``,
    ``locked``, ``not_found`` or ``unavailable``. Where a signer has declined the request, ``expired`` is told in other
    words; where its sender withdrew it, the state is ``withdrawn``. ``problem``: the name of the words that say what
    could not be done there. ``found``: the request, where the page must not know its signer."""
    is_withdrawn = bool(signer and signer.request.ended_early_at and not signer.request.declined_by_id)
    name = "withdrawn" if is_withdrawn and name == "expired" else name
    content: dict[str, Any] = {"state": name, "about": name, "until": until, "problem": problem}
    if signer:
        content |= {
            "names": [document.name for document in documents_of(signer)],
            "expires_at": signer.request.ended_early_at or signer.request.expires_at,
            "signed_at": signer.signed_at,
            "is_withdrawn": is_withdrawn,
        }
    if signer and signer.request.declined_by_id:
        content["is_declined"] = True
        if name == "expired":
            content["about"] = "declined" if signer.request.declined_by_id == signer.pk else "request_declined"
    if signer and content["about"] in ("already_signed", "declined"):
        content |= in_person(request, signer) | from_dashboard(request, signer)
    if name == "already_signed" and signer and "in_person" not in content:
        content |= {"progress": progress(signer), "redirect": redirect(signer), **_copy(request, signer)}
    status = status or _STATUSES.get(name, 200)
    return show(request, "signer/notice.html", content, signer=signer, found=found, status=status)


def for_signer(view: Callable[[HttpRequest, Signer], HttpResponse]) -> Callable[[HttpRequest, str], HttpResponse]:
    """Return a view of a page and its form, whose address has the token of a signer. Exempt from the CSRF cookie: the
    secret in the address is all permission there is."""

    @csrf_exempt
    @gzip_page
    @require_http_methods(["GET", "HEAD", "POST"])
    def page(request: HttpRequest, token: str) -> HttpResponse:
        signer = signer_with_turn(token)
        return view(request, signer) if signer else notice(request, "not_found", status=404)

    return page


class Progress(Answer):
    progress: Literal["waiting", "sealing", "ready", "expired"] = Field(
        description="`waiting` for others to sign, `sealing`, or `ready`: the sealed files can be had. `expired`: "
        "others did not sign in time, one has declined, or the sender withdrew the request."
    )
    others: int = Field(description="How many others have yet to sign.")
    declined: bool = Field(ABSENT, description="`true`, with `expired`, where somebody has declined; else absent.")
    example = ("Somebody else still signs", {"progress": "waiting", "others": 1})


def progress(signer: Signer) -> Progress:
    """Return how far the request is, without names: who else signs is not for the signer to know."""
    request = signer.request
    if request.finalized:
        return Progress(progress="ready", others=0)
    if request.status == RequestStatus.COMPLETED:
        return Progress(progress="sealing", others=0)
    others = request.signers.exclude(status=SignerStatus.SIGNED).count()
    if request.status == RequestStatus.EXPIRED:
        declined = {} if request.declined_by_id is None else {"declined": True}
        return Progress(progress="expired", others=others, **declined)
    return Progress(progress="waiting", others=others)


@got()
@described("GET /progress", "readProgress", "The progress.", Progress)
def progress_view(_request: HttpRequest, signer: Signer) -> Progress:
    """Follow the progress.

    How far the request is, for those who have signed; else 404. A count and never a name: who else signs is not the
    signer's to know.
    """
    if signer.status != SignerStatus.SIGNED:
        raise DomainError("not_found", "There is no progress before the signature.")
    return progress(signer)


def redirect(signer: Signer) -> dict[str, str] | None:
    """Return the page that the request's creator named, where signers may go on once they have signed: its ``address``,
    with the ids of request and signer in its query; and what our page calls that place, with its port, as
    :func:`paraph.outbound.url.ascii_host` has it: ``host``, and in markup ``shown_host``."""
    if not signer.request.redirect_url:
        return None
    parts, host = urlsplit(signer.request.redirect_url), ascii_host(signer.request.redirect_url)
    ids = urlencode({"signature_request_id": signer.request_id, "signer_id": signer.pk})
    query = f"{parts.query}&{ids}" if parts.query else ids
    shown = format_html("<bdi>{}</bdi>", host)
    return {"address": parts._replace(query=query).geturl(), "host": host, "shown_host": shown}


def _copy(request: HttpRequest, signer: Signer) -> dict[str, Any]:
    """Return what the links to the signer's copy need, for somebody who comes with a ticket, as from the mail at
    completion (:mod:`paraph.signature_requests.links`); for others, the address to which such a link can be mailed."""
    ticket = request.GET.get("ticket", "")
    if signer.request.files_deleted_at or not links.holds(signer, ticket):
        mailed = "mailed" in request.GET and was_mailed(signer)
        offered = masked(signer.email) if may_mail_copy(signer) else ""
        return {"copy_to": offered, "is_mailed": mailed, "mails_leave": mails_leave(signer)}
    return {"ticket": ticket, "token": token(signer), "documents": documents_of(signer)}


def mail_on_request(request: HttpRequest, mail: Callable[[], None], page: Callable[..., HttpResponse]) -> HttpResponse:
    """Do what the form asks for and send the browser back to a page that says that the link was mailed, or show the
    page with the name of the words that say why it was not, and a status. Other forms get the page alone."""
    try:
        if posted_form(request).get("do") != "copy":
            return page()
        mail()
    except DomainError as refusal:
        problem = "delivery_failed" if refusal.code == "delivery_failed" else "failed"
        if isinstance(refusal, TooManyMessagesError):
            problem = "copy_limit"
        return say_when(page(problem=problem, status=STATUSES.get(refusal.code, 503)), refusal)
    return back(request, "mailed")


class SignerOutage(MiddlewareMixin):
    """Answer while the database is away, or no place is free for expensive work: with a page in the signer's language
    instead of a crash, and with JSON for pictures and whatever else a page loads by itself. Also answer whoever comes
    to a page by a link that was replaced."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, ReplacedLinkError) and request.path.startswith(_PAGES):
            return notice(request, "replaced", found=exception.request)
        if not request.path.startswith(_PAGES) or not (isinstance(exception, NoPlaceError) or is_outage(exception)):
            return None
        if "text/html" not in request.headers.get("Accept", ""):
            return answers.fault(exception, language.of_answer(request))
        if not isinstance(exception, NoPlaceError):
            log.error("%s", outage_sentence(exception))
        response = notice(request, "unavailable", status=503)
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response


@require_safe
def whole_link(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect to the page from its address with something behind it, such as a bracket or a full stop, which mail
    programs take for a part of the link."""
    query = request.META.get("QUERY_STRING", "")
    return answers.private(HttpResponseRedirect(f"/{address}{f'?{query}' if query else ''}"))


@csrf_exempt
@gzip_page
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """``/confirm/{token}``: ask on GET whether messages of an organization's sandbox may go to the address that got the
    link, and confirm it on POST: programs that open every link in a mail confirm nothing. Exempt from the CSRF cookie:
    the secret in the address is all permission there is."""
    row = confirmed_addresses.find(token)
    if row is None:
        return notice(request, "not_found", status=404)
    if request.method == "POST":
        confirmed_addresses.confirm(row)
    done = request.method == "POST" or row.confirmed_at is not None
    content = {"state": "confirmed" if done else "confirm", "sender": row.organization.name, "address": row.address}
    return show(request, "signer/confirm.html", content, frame_ancestors="'none'")
