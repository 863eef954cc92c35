"""Signing tokens, which follow ``/sign/`` in a signing URL (rule 5.2).

A token is the signer's id followed by a keyed hash of the id and the signer's salt. The key derives from the server's
secret (:mod:`paraph.tenants.installation`) and is in no table as it is, so that no database dump opens a signing
page. A new salt withdraws the token of one signer alone. A salt is 16 random bytes, and where the secret was ever
rotated the generation of the key, in two bytes.

The highest two of the eight bytes of the id count the signer's links, so that a link which was replaced by a newer one
is told from a wrong one by the same single comparison.
"""

from functools import lru_cache

from django.conf import settings

from paraph.database.rows import Joined
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.installation import SIGNING, generation, link_key

_ID_BYTES = 8
_MAC_BYTES = 24
_LENGTH = 43  # base64url of 32 bytes
SALT_BYTES = 16
_GENERATION_BYTES = 2
_IDS = 2**48  # more than there will be

# For an unknown id, the signer with the id before it: both take the same time, which therefore reveals nothing.
_NEAREST = Joined(
    Signer, "request", "request__organization", end='WHERE "self"."id" <= %s ORDER BY "self"."id" DESC LIMIT 1'
)
_NOBODY = Signer(pk=0, token_salt=bytes(SALT_BYTES))


class ReplacedLinkError(DomainError):
    """A link that was replaced by a newer one, which its holder must not learn. ``request``: the one that it was
    for."""

    def __init__(self, request: SignatureRequest) -> None:
        super().__init__("replaced", "This link has been replaced by a newer one.")
        self.request = request


def new_salt() -> bytes:
    """Return the ``token_salt`` of a new signer."""
    number = generation()
    return tokens.random_bytes(SALT_BYTES) + (number.to_bytes(_GENERATION_BYTES, "big") if number else b"")


def token(signer: Signer) -> str:
    """Return the signer's token: 43 characters of base64url."""
    salt = bytes(signer.token_salt)
    return _token(_key(salt), _identity(signer.pk, signer.replaced_links), salt)


def signing_url(signer: Signer) -> str:
    """Return the signer's absolute URL, whatever their state (rule 2.3)."""
    return url_of(signer.pk, bytes(signer.token_salt), signer.replaced_links)


def url_of(signer_id: int, token_salt: bytes, replaced_links: int) -> str:
    """Return the signing URL of a signer who is not loaded."""
    kept = _kept_token(_key(token_salt), _identity(signer_id, replaced_links), token_salt)
    return f"{settings.PARAPH.public_url}/sign/{kept}"


def signer_of(text: str) -> Signer | None:
    """Return the signer of a token, with ``request`` and its organization loaded; None for other texts,
    and where the organization is deleted. Raise :class:`ReplacedLinkError` for the token of an earlier link.

    A wrong token of an existing signer takes the same statement, row and comparison as one with an unknown id.
    """
    if len(text) != _LENGTH or not text.isascii():
        return None
    try:
        identity = int.from_bytes(tokens.from_base64url(text)[:_ID_BYTES], "big")
    except ValueError:
        return None
    if identity >= 2**63:
        return None
    number, signer_id = divmod(identity, _IDS)
    signer = _NEAREST.first(signer_id) or _NOBODY
    salt = bytes(signer.token_salt)
    matches = tokens.same(_token(_key(salt), _identity(signer.pk, number), salt).encode(), text.encode())
    if not matches or signer is _NOBODY or signer.request.organization.deleted_at is not None:
        return None
    if number != signer.replaced_links:
        raise ReplacedLinkError(signer.request)
    return signer


def _identity(signer_id: int, replaced_links: int) -> int:
    return replaced_links * _IDS + signer_id


def _key(token_salt: bytes) -> bytes:
    return link_key(SIGNING, int.from_bytes(token_salt[SALT_BYTES:], "big"))


def _token(key: bytes, identity: int, token_salt: bytes) -> str:
    named = identity.to_bytes(_ID_BYTES, "big")
    mac = tokens.keyed_hash(key, named, token_salt)[:_MAC_BYTES]
    return tokens.base64url(named + mac)


# For a backend that follows its requests, which is told the same addresses again and again. Never for a comparison:
# how long it takes would tell which tokens exist.
_kept_token = lru_cache(maxsize=4096)(_token)
