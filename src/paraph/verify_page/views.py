"""``/verify`` and ``/verify/roots.pem``."""

import json
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from paraph import words as catalog
from paraph.counts.counting import Ceiling, count
from paraph.kernel import clock
from paraph.messaging.gateways import destination_hash
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox import verification_sandbox
from paraph.server.client_address import client_address, guarded_network
from paraph.signer import language
from paraph.signer.answers import private
from paraph.signer.shell import show
from paraph.verify_page.verdicts import VerdictRefused, as_json, as_shown, find, given_files, own_roots

VERDICTS_PER_MINUTE = 10
_log = logging.getLogger("paraph.verify")

_View = Callable[[HttpRequest], HttpResponse]


def _where_turned_on(view: _View) -> _View:
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not settings.PARAPH.verify_page:
            raise Http404
        return view(request)

    return guarded


@csrf_exempt
@_where_turned_on
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """Show the form, or the verdict on what was sent with it: as a page, or as ``paraph verify --json`` prints it.
    Exempt from the CSRF cookie: nothing is kept, and nobody is known."""
    with suppress(ReadersUnavailable):  # the verdict says so, if none can be started then
        verification_sandbox().warm()  # starts while files are chosen, and sent
    if request.method != "POST":
        return _shown(request, {})
    is_json = request.get_preferred_type(["text/html", "application/json"]) == "application/json"
    try:
        return _verdict(request, is_json=is_json)
    except VerdictRefused as refused:
        response = _refusal(request, refused, is_json=is_json)
        if refused.retry_after:
            response["Retry-After"] = str(refused.retry_after)
        return response


def _verdict(request: HttpRequest, *, is_json: bool) -> HttpResponse:
    _count(request)
    began = time.monotonic()
    with given_files(request) as given:
        try:
            found = find(given)
        except ReadersUnavailable as error:
            raise VerdictRefused("unavailable_title", 503, retry_after=5) from error
    _log.info("a verdict on %d bytes took %.1f s", given.size, time.monotonic() - began)
    if is_json:
        lines = "".join(f"{json.dumps(each)}\n" for each in as_json(found))
        kind = "application/json" if lines.count("\n") == 1 else "application/x-ndjson"
        return private(HttpResponse(lines, content_type=kind))
    names = {"sent": list(given.files), "kept_back": list(given.compared)}
    return _shown(request, {**as_shown(found), **names, "verified_at": clock.now()})


def _count(request: HttpRequest) -> None:
    network = destination_hash(guarded_network(client_address(request)))
    [position] = count([Ceiling(f"verdicts:{network}", 60, VERDICTS_PER_MINUTE)])
    if position.is_beyond:
        seconds = max(1, math.ceil((position.ends_at - clock.now()).total_seconds()))
        raise VerdictRefused("too_often", 429, retry_after=seconds, count=seconds)


def _refusal(request: HttpRequest, refused: VerdictRefused, *, is_json: bool) -> HttpResponse:
    if not is_json:
        return _shown(request, {"problem": refused.word, "values": refused.values}, refused.status)
    sentence = catalog.phrase(_words(catalog.DEFAULT_LOCALE), refused.word, **refused.values)
    error = {"error": {"code": refused.word, "message": sentence}}
    return private(HttpResponse(json.dumps(error), status=refused.status, content_type="application/json"))


def _shown(request: HttpRequest, content: dict[str, Any], status: int = 200) -> HttpResponse:
    locale = language.choose(request, None)
    words = _words(locale)
    if problem := content.get("problem"):
        content = {**content, "problem": catalog.phrase(words, problem, **content["values"])}
    shared = {"words": words, "host": settings.PARAPH.public_url, "state": "verify"}
    return show(request, "verify/page.html", shared | content, locale=locale, status=status, frame_ancestors="'none'")


def _words(locale: str) -> catalog.Words:
    shared = {"who_signed": catalog.of("proof", locale)["signers"]}
    return language.words(locale) | catalog.of("verdict", locale) | catalog.of("verify", locale) | shared


@_where_turned_on
@require_safe
def roots(_request: HttpRequest) -> HttpResponse:
    """Return the roots that ``paraph verify --root`` takes, as PEM."""
    found = [x509.load_der_x509_certificate(root) for root in own_roots()]
    pem = b"".join(root.public_bytes(Encoding.PEM) for root in found)
    response = HttpResponse(pem, content_type="application/x-pem-file")
    response["Content-Disposition"] = 'attachment; filename="roots.pem"'
    return response
