"""The frame of every page for signers: head, colours and language."""

from base64 import b64encode
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from paraph import words as catalog
from paraph.kernel import tokens
from paraph.kernel.appearance import shown
from paraph.signature_requests.links import token
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signer import language
from paraph.signer.answers import private
from paraph.tenants.branding import logo_of, logo_picture, theme
from paraph.tenants.models import Environment
from paraph.tenants.organizations import application_for_web


def show(
    request: HttpRequest,
    template: str,
    content: dict[str, Any],
    *,
    signer: Signer | None = None,
    found: SignatureRequest | None = None,
    locale: str = "",
    status: int = 200,
    frame_ancestors: str = "",
) -> HttpResponse:
    """Return the page of the template, in ``locale`` or the language that the request asks for. ``found``: the
    signature request that a page without a signer is about.

    Its policy loads nothing from elsewhere, sends forms nowhere else, and allows no inline script; the one inline
    style, with the colours of the branding profile, carries a nonce. It names the sites that may show the page in a
    frame: ``frame_ancestors``, else those of the request's application; without any, every site may. Pages of a request
    that was sent from the dashboard may be framed by the sites of the application that its organization names for such
    requests, and without any by none.
    """
    found = signer.request if signer else found
    locale = locale or language.choose(request, signer, found=found)
    origins = _frame_origins(signer) if signer else ""
    if signer and not signer.request.application and not origins:
        frame_ancestors = "'none'"
    frame_ancestors = frame_ancestors or origins
    sign_url = f"/sign/{token(signer)}" if signer else ""
    nonce = tokens.base64url(tokens.random_bytes(16))
    shared = {
        "locale": locale,
        "direction": catalog.direction(locale),
        "languages": language.names(),
        "words": language.words(locale, signer),
        "theme": theme(found.branding_profile if found else None),
        "nonce": nonce,
        "signer": signer,
        "sender": found.organization.name if found else "",
        "logo": _logo(found, sign_url) if found else None,
        "frame_origins": origins,
        "sign_url": sign_url,
        "ask_url": f"{sign_url}/ask" if signer and signer.request.organization.contact_email else "",
        "sandbox": found is not None and found.environment == Environment.SANDBOX,
    }
    response = private(render(request, template, shared | content, status=status))
    response["Content-Language"] = locale
    response["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
        f"style-src 'self' 'nonce-{nonce}'; form-action 'self'; base-uri 'none'"
        f"{f'; frame-ancestors {frame_ancestors}' if frame_ancestors else ''}"
    )
    return response


def _logo(found: SignatureRequest, sign_url: str) -> dict[str, Any] | None:
    """The address has a part of the digest, so that browsers may keep the picture. Pages without a signer hold it."""
    logo = logo_of(found.branding_profile)
    if logo is None:
        return None
    width, height = shown(logo.width, logo.height)
    if sign_url:
        return {"address": f"{sign_url}/logo.png?v={bytes(logo.sha256).hex()[:12]}", "width": width, "height": height}
    picture = logo_picture(found.branding_profile)
    png = b64encode(picture.png).decode() if picture else ""
    return {"address": f"data:image/png;base64,{png}", "width": width, "height": height} if png else None


def _frame_origins(signer: Signer) -> str:
    """Return the sites that are named, with spaces between them."""
    request = signer.request
    application = request.application or application_for_web(request.organization_id, request.environment)
    return application.frame_origins if application else ""
