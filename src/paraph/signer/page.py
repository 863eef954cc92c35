"""``GET /sign/{token}``: what the signer reads, agrees to and signs."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render

from paraph.documents.models import Document
from paraph.flow.send_otp import masked
from paraph.kernel import tokens
from paraph.organizations.models import Environment
from paraph.otp import guesses
from paraph.otp.channels import channels, destination
from paraph.pdf.typesetting.initials import initials_of
from paraph.signature_requests.consent import consent_notice
from paraph.signature_requests.models import Placement, RequestStatus, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signer_of
from paraph.signer import language
from paraph.signer.answers import private
from paraph.signer.remarks import remarks_for_page
from paraph.signer.theme import theme

_STATUSES = {SigningEligibility.EXPIRED: 410}


def page(request: HttpRequest, token: str) -> HttpResponse:
    """The page to sign on, or one honest sentence about why there is nothing to sign (any more, or yet)."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = signer_of(token)
    if signer is None:
        return _show(request, "signer/notice.html", None, {"notice": "not_found"}, 404)
    found = signing_eligibility(signer)
    if found is not SigningEligibility.OPEN:
        return _show(
            request, "signer/notice.html", signer, {"notice": _notice(signer, found)}, _STATUSES.get(found, 200)
        )
    locale = language.choose(request, signer)
    if until := guesses.locked_until(signer):
        locked = {"notice": "locked", "until": language.moment(until, locale)}
        return _show(request, "signer/notice.html", signer, locked)
    return _show(request, "signer/page.html", signer, _contents(signer, token, locale))


def _notice(signer: Signer, found: SigningEligibility) -> str:
    if found is SigningEligibility.SIGNED and signer.request.status == RequestStatus.COMPLETED:
        return "finalized" if signer.request.finalized else "completed"
    return found.value


def _show(
    request: HttpRequest, template: str, signer: Signer | None, content: dict[str, Any], status: int = 200
) -> HttpResponse:
    locale = language.choose(request, signer)
    nonce = tokens.base64url(tokens.random_bytes(16))
    profile = signer.request.branding_profile if signer else None
    shared = {
        "locale": locale,
        "languages": language.names(),
        "words": language.words(locale),
        "theme": theme(profile),
        "nonce": nonce,
        "signer": signer,
        "sender": signer.request.organization.name if signer else "",
        "until": language.moment(signer.request.expires_at, locale) if signer else "",
        "sandbox": signer is not None and signer.request.environment == Environment.SANDBOX,
    }
    if signer and "documents" in content:
        content["consent"] = consent_notice(locale, len(content["documents"]))
    response = private(render(request, template, shared | content, status=status))
    response["Content-Language"] = locale
    response["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        f"style-src 'self' 'nonce-{nonce}'; form-action 'none'; base-uri 'none'"
    )
    return response


def _contents(signer: Signer, token: str, locale: str) -> dict[str, Any]:
    documents = documents_of(signer)
    return {
        "token": token,
        "documents": [_document(document, signer, locale) for document in documents],
        "channels": [(channel.value, masked(destination(signer, channel)[1])) for channel in channels(signer)],
        "initials": initials_of(signer.full_name) if signer.request.initials_required else "",
    }


def documents_of(signer: Signer) -> list[Document]:
    """The documents that the signer signs, in the request's order. Others of the request are not theirs to read."""
    of_request = signer.request.request_documents.filter(placements__signer=signer).distinct()
    return [row.document for row in of_request.select_related("document").order_by("position")]


def _document(document: Document, signer: Signer, locale: str) -> dict[str, Any]:
    placements = Placement.objects.filter(
        signer=signer, request_document__request=signer.request_id, request_document__document=document
    )
    boxes: dict[int, list[dict[str, float]]] = {}
    for place in placements:
        height = document.pages[place.page_number - 1][1]
        top = height - place.y - place.height  # the picture's origin is top left, the placement's bottom left
        box = {"x": place.x, "y": top, "width": place.width, "height": place.height}
        boxes.setdefault(place.page_number, []).append(box)
    told = remarks_for_page(document, language.words(locale))
    in_print = set(told.get("prints_differently", []))
    pages = [
        {
            "number": number,
            "width": width,
            "height": height,
            "boxes": boxes.get(number, []),
            "prints_differently": number in in_print,
        }
        for number, (width, height) in enumerate(document.pages, start=1)
    ]
    return {"id": document.pk, "name": document.name, "pages": pages, "to_sign": sorted(boxes), "remarks": told}
