"""Scripts that browsers load: ``GET /sign/words/{locale}.js``, what the scripts of a signing page say and show; and
``GET /sign/embed.js``, for sites that embed the page. Nothing of a request is in them."""

import hashlib
import json
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from paraph.server.bodies import Compressed
from paraph.signer import language
from paraph.signer.described import described
from paraph.words import LOCALES

_NAMES = (
    *("locale", "page_of", "next_place", "no_text", "picture_failed", "try_again", "offline"),
    *("sending", "sent", "new_code_in", "sandbox_code", "send_new_code", "signing"),
    *("signature_missing", "initials_missing", "consent_missing", "code_missing", "code_not_sent"),
    *("unshown", "unread", "no_ink", "failed", "waiting", "sealing", "sealed", "full_screen", "done_drawing"),
)
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
    response["Cross-Origin-Resource-Policy"] = "cross-origin"  # for sites that demand it of all that they load
    return response


@cache
def _embed() -> bytes:
    return (Path(__file__).parent / "static" / "signer" / "embed.js").read_bytes()
