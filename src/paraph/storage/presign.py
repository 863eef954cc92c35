"""Presigned addresses of the local store, which :mod:`paraph.files` serves while they are valid."""

from urllib.parse import quote, urlencode

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError


def presigned_url(key: str, filename: str, seconds: int) -> str:
    """``{public_url}/files/{key}?expires=…&filename=…&signature=…``, valid for ``seconds`` from now."""
    expires = int(clock.now().timestamp()) + seconds
    query = {"expires": expires, "filename": filename, "signature": _signature(key, str(expires), filename)}
    return f"{settings.PARAPH.public_url}/files/{quote(key)}?{urlencode(query)}"


def check_link(key: str, expires: str, filename: str, signature: str) -> None:
    """Raises ``DomainError("forbidden", …)`` unless the signature is ours, over these very values, and has not
    expired."""
    expected = _signature(key, expires, filename)
    if not tokens.same(expected.encode(), signature.encode(errors="surrogatepass")):
        raise DomainError("forbidden", "This link is not valid: it was changed or cut.")
    if int(expires) < clock.now().timestamp():
        raise DomainError("forbidden", "This link has expired: ask for the resource again to get a fresh one.")


def _signature(*parts: str) -> str:
    key = tokens.derive(settings.MASTER_KEY, "files")
    return tokens.keyed_hash(key, *(part.encode(errors="surrogatepass") for part in parts)).hex()
