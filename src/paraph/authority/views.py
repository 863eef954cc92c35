"""``/authority/…``: RFC 3161 over HTTP (§3.4), RFC 6960 over HTTP (appendix A), the root and its revocation list."""

from collections.abc import Callable
from functools import cache, wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from paraph.flow.sealing.context import development
from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority
from paraph.keys.revocation import status_answer
from paraph.pdf.pki.statuses import DevelopmentStatuses
from paraph.pdf.timestamps.builtin_authority import BuiltInAuthority
from paraph.pdf.timestamps.http_authority import QUERY_TYPE, REPLY_TYPE

_LARGEST = 4096  # bytes; an ordinary request has a hundred
_OCSP_QUERY, _OCSP_REPLY = "application/ocsp-request", "application/ocsp-response"

View = Callable[[HttpRequest], HttpResponse]


def _where_turned_on(method: str, media_type: str = "") -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest) -> HttpResponse:
            if not settings.PARAPH.serve_authority:
                return _refusal(404, "PARAPH_SERVE_AUTHORITY turns this on.")
            if request.method != method:
                return _refusal(405, f"Ask with {method}.")
            if media_type and (request.content_type or "").lower() != media_type:
                return _refusal(415, f"Ask with Content-Type: {media_type}.")
            return view(request)

        return guarded

    return decorate


@_where_turned_on("POST", QUERY_TYPE)
def timestamp(request: HttpRequest) -> HttpResponse:
    """A TimeStampResp to a TimeStampReq: a token, or a rejection with its reason."""
    return _answer(_authority().answer(request.read(_LARGEST + 1)), REPLY_TYPE)


@_where_turned_on("POST", _OCSP_QUERY)
def status(request: HttpRequest) -> HttpResponse:
    """An OCSPResponse about the sealing or timestamp certificate of the development authority."""
    return _answer(status_answer(_own(), request.read(_LARGEST + 1), clock.now()), _OCSP_REPLY)


@_where_turned_on("GET")
def revocations(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """The root's revocation list, a day old at most."""
    own = _own()
    data = _statuses().statuses((own.timestamp_key.certificate, own.root))
    return _answer(data.crls[0], "application/pkix-crl")


@_where_turned_on("GET")
def root(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """The root certificate, DER, for those who want to trust it."""
    return _answer(_own().root, "application/pkix-cert")


@cache
def _own() -> DevelopmentAuthority:
    """Loaded once: reading the keys takes a while."""
    return development()


@cache
def _authority() -> BuiltInAuthority:
    return BuiltInAuthority(_own().timestamp_key)


@cache
def _statuses() -> DevelopmentStatuses:
    return DevelopmentStatuses(_own())


def _answer(body: bytes, media_type: str) -> HttpResponse:
    return HttpResponse(body, content_type=media_type, headers={"Cache-Control": "no-store"})


def _refusal(code: int, sentence: str) -> HttpResponse:
    return HttpResponse(f"{sentence}\n", status=code, content_type="text/plain", headers={"Cache-Control": "no-store"})
