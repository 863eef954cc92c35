"""The frame of every page for signers: head, colours and language; and two scripts with nothing of a request in them:
``/sign/words/{locale}.js``, what a page's own scripts say and show, and ``/sign/embed.js``, for sites that embed it."""

import hashlib
import json
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from paraph import words as catalog
from paraph.kernel import tokens
from paraph.kernel.appearance import shown
from paraph.server.bodies import Compressed
from paraph.signature_requests.links import token
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signer import language
from paraph.signer.answers import private
from paraph.signer.described import described
from paraph.tenants.branding import logo_of, logo_picture, theme
from paraph.tenants.models import Environment
from paraph.tenants.organizations import application_for_web
from paraph.words import LOCALES


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

    Its security policy lets it load nothing from elsewhere, send forms nowhere else, and run no inline script; the one
    inline style, with the colours of the branding profile, carries a nonce. The policy names the sites that may show
    the page in a frame: ``frame_ancestors``, else those of the request's application; where none is named, every site
    may. Pages of a request that was sent from the dashboard may be framed by the sites of the application that its
    organization names for such requests, else by none.
    """
    found = signer.request if signer else found
    locale = locale or language.choose(request, signer, found=found)
    origins = ""
    if signer:
        of = signer.request
        application = of.application or application_for_web(of.organization_id, of.environment)
        origins = application.frame_origins if application else ""
    if signer and not signer.request.application and not origins:
        frame_ancestors = "'none'"
    frame_ancestors = frame_ancestors or origins
    sign_url = f"/sign/{token(signer)}" if signer else ""
    nonce = tokens.base64url(tokens.random_bytes(16))
    shared = {
        "locale": locale,
        "direction": catalog.direction(locale),
        "languages": [(code, catalog.language_name(code)) for code in LOCALES],
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
    """Give the address a part of the digest, so that browsers may keep the picture. Pages without a signer embed it."""
    logo = logo_of(found.branding_profile)
    if logo is None:
        return None
    width, height = shown(logo.width, logo.height)
    if sign_url:
        return {"address": f"{sign_url}/logo.png?v={bytes(logo.sha256).hex()[:12]}", "width": width, "height": height}
    picture = logo_picture(found.branding_profile)
    png = b64encode(picture.png).decode() if picture else ""
    return {"address": f"data:image/png;base64,{png}", "width": width, "height": height} if png else None


_NAMES = (
    "locale", "page_of", "next_place", "no_text", "picture_failed", "try_again", "offline",
    "sending", "sent", "new_code_in", "sandbox_code", "send_new_code", "signing",
    "signature_missing", "initials_missing", "consent_missing", "code_missing", "code_not_sent",
    "unshown", "unread", "no_ink", "failed", "waiting", "sealing", "sealed", "full_screen", "done_drawing",
)  # fmt: skip
_SENDER = mark_safe('<bdi data-fill="sender"></bdi>')
_HOST = mark_safe('<bdi data-fill="host"></bdi>')


@require_safe
@described("GET /sign/words/{locale}.js", "loadScriptWords", "The words.", "text/javascript")
def words_script(request: HttpRequest, locale: str) -> HttpResponse:
    """Read what the page's scripts say.

    The words of the page's scripts in one of the twenty languages, the same for everybody. Pages name it with its
    version, and browsers keep it for a year.
    """
    if locale not in LOCALES:
        return HttpResponseNotFound()
    response = _words(locale).response(request)
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


def words_address(locale: str) -> str:
    """Return the script's address in its present version."""
    return f"/sign/words/{locale}.js?v={hashlib.sha256(_words(locale).content).hexdigest()[:8]}"


@cache
def _words(locale: str) -> Compressed:
    words = language.words(locale)
    done = render_to_string("signer/done.html", {"words": words, "locale": locale, "sender": _SENDER, "host": _HOST})
    said = {name: words[name] for name in _NAMES} | {"done": done}
    script = f'"use strict";\nconst words = {json.dumps(said, ensure_ascii=False, separators=(",", ":"))};\n'
    return Compressed(script.encode(), "text/javascript; charset=utf-8")


@gzip_page
@require_safe
@described("GET /sign/embed.js", "loadEmbedScript", "The script.", "text/javascript")
def embed_script(_request: HttpRequest) -> HttpResponse:
    """Show the page in a frame.

    A script of 2 KB for your own site: `Paraph.embed(element, signingUrl, {onEvent})` makes the frame, keeps it as high
    as its content, and calls `onEvent` with what happens in it, such as `paraph:signed`. What counts is the webhook:
    anybody can claim anything in their own browser.
    """
    response = HttpResponse(_embed(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "public, max-age=3600"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"  # for sites that require it of all that they load
    return response


@cache
def _embed() -> bytes:
    return (Path(__file__).parent / "static" / "signer" / "embed.js").read_bytes()
