"""``/confirm/{token}``: whether messages of an organization's sandbox may go to the address that got the link."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from paraph.kernel import tokens
from paraph.organizations import confirmed_addresses
from paraph.signer import language
from paraph.signer.answers import private
from paraph.signer.theme import theme


@csrf_exempt
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """GET asks, POST confirms: programs that open every link in a mail confirm nothing. Exempt from the CSRF cookie:
    the secret in the address is all permission there is."""
    if request.method not in ("GET", "HEAD", "POST"):
        return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
    row = confirmed_addresses.find(token)
    if row is None:
        return _show(request, {"notice": "not_found"}, 404)
    if request.method == "POST":
        confirmed_addresses.confirm(row)
    done = request.method == "POST" or row.confirmed_at is not None
    facts = {"notice": "confirmed" if done else "confirm", "sender": row.organization.name, "address": row.address}
    return _show(request, facts)


def _show(request: HttpRequest, facts: dict[str, Any], status: int = 200) -> HttpResponse:
    locale = language.choose(request, None)
    nonce = tokens.base64url(tokens.random_bytes(16))
    shared = {
        "locale": locale,
        "languages": language.names(),
        "words": language.words(locale),
        "theme": theme(None),
        "nonce": nonce,
    }
    response = private(render(request, "signer/confirm.html", shared | facts, status=status))
    response["Content-Language"] = locale
    response["Content-Security-Policy"] = (
        f"default-src 'none'; img-src 'self'; style-src 'self' 'nonce-{nonce}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return response
