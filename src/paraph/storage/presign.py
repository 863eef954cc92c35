"""Presigned addresses of the local store, which :mod:`paraph.files` serves while they are valid."""

from urllib.parse import quote, urlencode

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.storage.objects import checked_key


def presigned_url(key: str, filename: str, seconds: int) -> str:
    """``{public_url}/files/{key}?expires=…&filename=…&signature=…``, valid for ``seconds`` from now."""
    expires = int(clock.now().timestamp()) + seconds
    signature = _signatures(checked_key(key), str(expires), filename)[0]
    query = urlencode({"expires": expires, "filename": filename, "signature": signature})
    return f"{settings.PARAPH.public_url}/files/{quote(key)}?{query}"


def check_link(key: str, expires: str, filename: str, signature: str) -> None:
    """Raise ``DomainError("forbidden", …)`` unless the signature is ours, over these very values, and has not
    expired."""
    given = signature.encode(errors="surrogatepass")
    if not any(tokens.same(expected.encode(), given) for expected in _signatures(key, expires, filename)):
        raise DomainError("forbidden", "This link is not valid: it was changed or cut.")
    if int(expires) < clock.now().timestamp():
        raise DomainError("forbidden", "This link has expired: ask for the resource again to get a fresh one.")


def _signatures(*parts: str) -> list[str]:
    """Return the signatures by each secret, first the one in use."""
    signed = [part.encode(errors="surrogatepass") for part in parts]
    return [tokens.keyed_hash(key, *signed).hex() for key in settings.SECRETS.keys("files")]
