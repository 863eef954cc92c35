"""``/transparency/…``: the log as static resources (C2SP tlog-tiles), its keys and timestamp, and the witness."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from paraph.pdf.pki import der
from paraph.pdf.timestamps.authorities import REPLY_TYPE
from paraph.transparency import log
from paraph.transparency.merkle import TILE, Tile, bundle, read_path
from paraph.transparency.witnesses import LARGEST_BODY, add_checkpoint, own_key

_TEXT = "text/plain; charset=utf-8"
_FOR_EVER = "public, max-age=31536000, immutable"
_BRIEFLY = "public, max-age=5"


@require_safe
def resource(request: HttpRequest, path: str) -> HttpResponse:  # noqa: ARG001  Django's form
    """Return what the log has at a path: its key, that of the witness, the newest published checkpoint, the newest
    timestamp over one (an RFC 3161 TimeStampResp) with what it covers, tiles of hashes and bundles of entries."""
    newest, stamped = log.published(), log.stamped()
    match path.partition("/"):
        case ("key", "", _):
            found: str | bytes = f"{own_key().log}\n"
        case ("witness", _, "key"):
            found = f"{own_key().witness}\n"
        case ("checkpoint", "", _) if newest:
            found = newest.note
        case ("checkpoint.stamped", "", _) if stamped:
            found = log.without_witnesses(stamped)
        case ("checkpoint.tsr", "", _) if stamped:
            found = der.sequence(der.sequence(der.integer(0)), bytes(stamped.token or b""))
            return _answer(found, REPLY_TYPE, cache=_BRIEFLY)
        case ("tile", _, name) if newest and (found := _tile(read_path(name), newest.size)):
            return _answer(found, "application/octet-stream", cache=_FOR_EVER)
        case _:
            return _answer("The log has nothing here, or not yet.\n", status=404)
    return _answer(found, cache=_BRIEFLY)


def _tile(tile: Tile | None, size: int) -> bytes:
    """Return a tile of a log of this size; b"" where it has none."""
    if tile is None or tile.number * TILE + tile.width > size // TILE ** max(tile.level, 0):
        return b""
    if tile.level < 0:
        return bundle(log.entries(tile.number * TILE, tile.width))
    return b"".join(log.read(tile.level, tile.number * TILE, tile.width))


@require_POST
def witness(request: HttpRequest) -> HttpResponse:
    """Cosign the checkpoint of a log that ``PARAPH_WITNESS_FOR`` names."""
    status, body = add_checkpoint(request.read(LARGEST_BODY))  # a longer body is cut off, and then no checkpoint
    return _answer(body, "text/x.tlog.size" if status == 409 else _TEXT, status=status)


def _answer(body: str | bytes, media_type: str = _TEXT, *, status: int = 200, cache: str = "no-store") -> HttpResponse:
    headers = {"Cache-Control": cache, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(body, content_type=media_type, status=status, headers=headers)
