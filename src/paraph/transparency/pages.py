"""``/transparency/…``: the log as static resources (C2SP tlog-tiles), its keys and timestamp, and the witness."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse

from paraph.pdf.pki import der
from paraph.pdf.timestamps.authorities import REPLY_TYPE
from paraph.transparency import log
from paraph.transparency.merkle import TILE
from paraph.transparency.own_key import own_key
from paraph.transparency.tiles import bundle, read_path
from paraph.transparency.witnesses import LARGEST_BODY, add_checkpoint

_TEXT = "text/plain; charset=utf-8"
_FOR_EVER = "public, max-age=31536000, immutable"
_BRIEFLY = "public, max-age=5"
_P = ParamSpec("_P")
_View = Callable[Concatenate[HttpRequest, _P], HttpResponse]


def _asked_with(*methods: str) -> Callable[[_View[_P]], _View[_P]]:
    def decorate(view: _View[_P]) -> _View[_P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: _P.args, **kwargs: _P.kwargs) -> HttpResponse:
            if request.method not in methods:
                return _answer(f"Ask with {methods[0]}.\n", status=405)
            return view(request, *args, **kwargs)

        return guarded

    return decorate


@_asked_with("GET", "HEAD")
def key(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return the verifier key of the log."""
    return _answer(f"{own_key().log}\n", cache=_BRIEFLY)


@_asked_with("GET", "HEAD")
def witness_key(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return the verifier key of this installation as a witness."""
    return _answer(f"{own_key().witness}\n", cache=_BRIEFLY)


@_asked_with("GET", "HEAD")
def checkpoint(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return the newest checkpoint."""
    found = log.published()
    return _answer(found.note, cache=_BRIEFLY) if found else _nothing()


@_asked_with("GET", "HEAD")
def stamped_checkpoint(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return the checkpoint that the newest timestamp is over, with the log's signature alone."""
    found = log.stamped()
    return _answer(log.without_witnesses(found), cache=_BRIEFLY) if found else _nothing()


@_asked_with("GET", "HEAD")
def timestamp(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return the newest timestamp over a checkpoint, as an RFC 3161 TimeStampResp."""
    found = log.stamped()
    if found is None:
        return _nothing()
    return _answer(der.sequence(der.sequence(der.integer(0)), bytes(found.token or b"")), REPLY_TYPE, cache=_BRIEFLY)


@_asked_with("GET", "HEAD")
def tile(request: HttpRequest, path: str) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return a tile of hashes or a bundle of entries, as far as they are in the newest checkpoint."""
    wanted, newest = read_path(path), log.published()
    if wanted is None or newest is None:
        return _nothing()
    level, first = max(wanted.level, 0), wanted.index * TILE
    if first + wanted.width > newest.size // TILE**level:
        return _nothing()
    if wanted.level < 0:
        content = bundle(log.entries(first, wanted.width))
    else:
        content = b"".join(log.read(level, first, wanted.width))
    return _answer(content, "application/octet-stream", cache=_FOR_EVER)


@_asked_with("POST")
def witness(request: HttpRequest) -> HttpResponse:
    """Cosign the checkpoint of a log that ``PARAPH_WITNESS_FOR`` names."""
    body = request.read(LARGEST_BODY + 1)
    if len(body) > LARGEST_BODY:
        return _answer("The body is too large.\n", status=413)
    found = add_checkpoint(body)
    return _answer(found.body, found.media_type, status=found.status)


def _nothing() -> HttpResponse:
    return _answer("The log has nothing here, or not yet.\n", status=404)


def _answer(body: str | bytes, media_type: str = _TEXT, *, status: int = 200, cache: str = "no-store") -> HttpResponse:
    headers = {"Cache-Control": cache, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(body, content_type=media_type, status=status, headers=headers)
