"""``GET /metrics``, for Prometheus on this machine or with the token of the settings."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from paraph.kernel import tokens
from paraph.operations.exposition import CONTENT_TYPE, exposition

_FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via")


def metrics(request: HttpRequest) -> HttpResponse:
    """200, or 403 to whoever has neither the token (``Authorization: Bearer …``) nor, where none is set, a place on
    this machine."""
    if not _may_read(request):
        return HttpResponse("PARAPH_METRICS_TOKEN opens this page.\n", status=403, content_type="text/plain")
    response = HttpResponse(exposition(), content_type=CONTENT_TYPE)
    response["Cache-Control"] = "no-store"
    return response


def _may_read(request: HttpRequest) -> bool:
    token = settings.PARAPH.metrics_token
    if token:
        given = request.headers.get("Authorization", "")
        return tokens.same(given.encode(errors="replace"), f"Bearer {token}".encode())
    # Behind a proxy on this machine every peer is local: a public service needs the token.
    forwarded = any(name in request.headers for name in _FORWARDED)
    return settings.PARAPH.is_local and not forwarded and _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _is_loopback(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback
