"""``/authority/…``: RFC 3161 over HTTP (§3.4), RFC 6960 over HTTP (appendix A), the root and its revocation list."""

from collections.abc import Callable
from functools import cache, wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from paraph.flow.sealing.context import development
from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority
from paraph.keys.development import status_answer
from paraph.pdf.pki.statuses import DevelopmentStatuses
from paraph.pdf.timestamps.authorities import QUERY_TYPE, REPLY_TYPE, BuiltInAuthority

_LARGEST_REQUEST = 4096  # bytes; an ordinary request has a hundred
_OCSP_QUERY, _OCSP_REPLY = "application/ocsp-request", "application/ocsp-response"

_View = Callable[[HttpRequest], HttpResponse]


def _where_turned_on(method: str, media_type: str = "") -> Callable[[_View], _View]:
    def decorate(view: _View) -> _View:
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
    """Answer a TimeStampReq with a TimeStampResp: a token, or a rejection with its reason."""
    return _answer(_authority().answer(request.read(_LARGEST_REQUEST + 1)), REPLY_TYPE)


@_where_turned_on("POST", _OCSP_QUERY)
def status(request: HttpRequest) -> HttpResponse:
    """Answer an OCSPRequest about any certificate that the development authority has issued."""
    return _answer(status_answer(_development(), request.read(_LARGEST_REQUEST + 1), clock.now()), _OCSP_REPLY)


@_where_turned_on("GET")
def revocations(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return the revocation list of the root, at most a day old."""
    authority = _development()
    data = _statuses().statuses((authority.timestamp_key.certificate, authority.root))
    return _answer(data.crls[0], "application/pkix-crl")


@_where_turned_on("GET")
def root(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """DER of the root certificate."""
    return _answer(_development().root, "application/pkix-cert")


@cache
def _development() -> DevelopmentAuthority:
    """Return the development authority, loaded once because decrypting its keys takes long."""
    return development()


@cache
def _authority() -> BuiltInAuthority:
    return BuiltInAuthority(_development().timestamp_key)


@cache
def _statuses() -> DevelopmentStatuses:
    return DevelopmentStatuses(_development())


def _answer(body: bytes, media_type: str) -> HttpResponse:
    return HttpResponse(body, content_type=media_type, headers={"Cache-Control": "no-store"})


def _refusal(code: int, sentence: str) -> HttpResponse:
    return HttpResponse(f"{sentence}\n", status=code, content_type="text/plain", headers={"Cache-Control": "no-store"})
