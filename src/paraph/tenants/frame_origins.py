"""Which sites may show an application's signing pages in a frame (docs/embedding.md)."""

import re
from collections.abc import Iterable

from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url

_MOST = 20
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*", re.ASCII)
_THIS_MACHINE = ("localhost", "127.0.0.1")


def frame_origins(given: Iterable[str]) -> list[str]:
    """Return the origins as browsers write them, each once. Raise ``DomainError("validation_error", …)``."""
    origins = list(dict.fromkeys(_origin(text) for text in given))
    if len(origins) > _MOST:
        raise DomainError("validation_error", f"frame_origins may name at most {_MOST} sites, not {len(origins)}.")
    return origins


def _origin(text: str) -> str:
    """Return the origin as browsers write it. Wildcards are refused, since a message to the frame's site needs its very
    name, and so is every character that would mean something else in the page's policy, where the origin stands as it
    is."""
    bare = text.removesuffix("/")
    try:
        url = check_url(bare, name="frame_origin")
    except DomainError as problem:
        raise _refused(text) from problem
    host = url.raw_host.decode("ascii")
    is_secure = url.scheme == "https" or host in _THIS_MACHINE
    if not is_secure or not _HOST.fullmatch(host) or bare.count("/") > 2 or "?" in bare or "#" in bare:
        raise _refused(text)
    return f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")


def _refused(text: str) -> DomainError:
    sentence = "is not the origin of a site, such as https://example.com (http only for localhost)"
    return DomainError("validation_error", f"frame_origin {text[:80]!r} {sentence}.")
