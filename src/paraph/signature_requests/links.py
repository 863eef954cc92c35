"""Links of signers and of those who get copies: signing tokens, and tickets that hold for a time.

A signing token follows ``/sign/`` in a signing URL (rule 5.2). It is the signer's id followed by a keyed hash of the id
and the signer's salt. The key derives from the server's secret (:mod:`paraph.tenants.installation`) and is in no table
as it is, so that no database dump opens a signing page. A new salt withdraws the token of one signer alone. A salt is
16 random bytes, and where the secret was ever rotated the generation of the key, in two bytes.

The highest two of the eight bytes of the id count the signer's links, so that a link which was replaced by a newer one
is distinguished from a wrong one by the same single comparison.

A ticket has a keyed hash over whom it is for and when it ends, in seconds since the epoch. A signing link that is
opened again gives no copy by itself: it may have been passed on. Signers who have just signed have proven who they are,
so their page gets a ticket to download their copy; the mail at the end carries another. Recipients of copies have
links, ``{id}.{until}.{hash}``, and a new salt withdraws the links of one recipient.

A member who opens a signing page on their own device, for a signer who is there, gets ``{member}.{until}.{hash}``: with
it the page says whose turn it is, and the journal which member's device it was. It opens nothing: the page is opened by
the signing token, and a signature needs the code that the signer gets. A member who comes from the dashboard to sign
gets ``{until}.{hash}``, with which the page offers the way back.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django.conf import settings

from paraph.database.rows import Joined
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import CopyRecipient, SignatureRequest, Signer
from paraph.tenants.installation import SIGNING, TICKET, generation, link_key, link_keys_until
from paraph.tenants.members import Right, may
from paraph.tenants.models import Member

_ID_BYTES = 8
_MAC_BYTES = 24
_LENGTH = 43  # base64url of 32 bytes
SALT_BYTES = 16
_GENERATION_BYTES = 2
_IDS = 2**48  # more signers than there will be

# Finds the signer before an unknown id: known and unknown ids take the same time, which therefore reveals nothing.
_NEAREST = Joined(
    Signer, "request", "request__organization", end='WHERE "self"."id" <= %s ORDER BY "self"."id" DESC LIMIT 1'
)
_NOBODY = Signer(pk=0, token_salt=bytes(SALT_BYTES))


class ReplacedLinkError(DomainError):
    """A link that was replaced by a newer one, which its holder must not learn. ``request``: the request that the link
    was for."""

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


# For a backend that polls its requests and gets the same addresses again and again. Never for a comparison, whose
# time would tell which tokens exist.
_kept_token = lru_cache(maxsize=4096)(_token)


AFTER_SIGNING = timedelta(minutes=15)
IN_MAIL = timedelta(days=30)
IN_PERSON = timedelta(hours=12)
FROM_DASHBOARD = timedelta(hours=12)
_NOTICED = timedelta(minutes=1)  # until every process knows that a key was replaced
_COPY, _IN_PERSON, _DASHBOARD = b"copy", b"in person", b"dashboard"  # a signer's own ticket has no such part
_LONGEST = 18  # digits of a number


def ticket(signer: Signer, lifetime: timedelta) -> str:
    """Return ``{until}.{hash}`` for a signer."""
    return _made(lifetime, signer.pk)


def holds(signer: Signer, text: str) -> bool:
    """Return whether the text is a ticket of the signer that is still valid."""
    return _holds(text, signer.pk)


@dataclass(frozen=True)
class RecipientLink:
    """The recipient whom a link names, whether or not it is still valid."""

    recipient: CopyRecipient
    until: datetime

    @property
    def is_over(self) -> bool:
        return clock.now() >= self.until


def copy_url(recipient: CopyRecipient) -> tuple[str, datetime]:
    """Return the absolute address of a new link, and until when it is valid."""
    until = _until(IN_MAIL)
    proof = _proofs(until, *_copy(recipient, until))[0]
    return f"{settings.PARAPH.public_url}/copies/{recipient.pk}.{until}.{proof}", datetime.fromtimestamp(until, UTC)


def link_of(text: str) -> RecipientLink | None:
    """Return the link that has this token, with the request and its organization loaded; None for other texts, and
    where the organization is deleted."""
    number, _, rest = text.partition(".")
    moment, _, proof = rest.partition(".")
    if not (_is_number(number) and _is_number(moment)):
        return None
    related = ("request__organization", "request__branding_profile")
    recipient = CopyRecipient.objects.select_related(*related).filter(pk=int(number)).first()
    until, nobody = int(moment), CopyRecipient(pk=0, token_salt=b"")
    is_proven = _is_proven(proof, until, *_copy(recipient or nobody, until))
    if not is_proven or recipient is None or recipient.request.organization.deleted_at is not None:
        return None
    return RecipientLink(recipient, datetime.fromtimestamp(until, UTC))


def in_person_ticket(signer: Signer, member_id: int) -> str:
    """Return ``{member}.{until}.{hash}`` for the signing page of a signer."""
    return f"{member_id}.{_made(IN_PERSON, _IN_PERSON, signer.pk, member_id)}"


def member_of(signer: Signer, text: str) -> int | None:
    """Return the id of the member who opened the page of this signer; None for other texts, for tickets whose time is
    over, and where the member has left or may not send any more."""
    member, _, rest = text.partition(".")
    if not (_is_number(member) and _holds(rest, _IN_PERSON, signer.pk, int(member))):
        return None
    roles = Member.objects.filter(
        pk=int(member), organization=signer.request.organization_id, user__is_active=True
    ).values_list("role", flat=True)
    return int(member) if any(may(role, Right.SEND) for role in roles) else None


def dashboard_ticket(signer: Signer) -> str:
    """Return ``{until}.{hash}`` for the signing page of a member who comes from the dashboard."""
    return _made(FROM_DASHBOARD, _DASHBOARD, signer.pk)


def is_from_dashboard(signer: Signer, text: str) -> bool:
    """Return whether the text is a :func:`dashboard_ticket` of the signer that is still valid."""
    return _holds(text, _DASHBOARD, signer.pk)


def _made(lifetime: timedelta, *parts: bytes | int) -> str:
    """Return ``{until}.{hash}`` for the parts."""
    until = _until(lifetime)
    return f"{until}.{_proofs(until, *parts, until)[0]}"


def _holds(text: str, *parts: bytes | int) -> bool:
    """Return whether :func:`_made` returned the text for these parts, and it is still valid."""
    until, _, proof = text.partition(".")
    is_ahead = _is_number(until) and int(until) > clock.now().timestamp()
    return is_ahead and _is_proven(proof, int(until), *parts, int(until))


def _until(lifetime: timedelta) -> int:
    return int((clock.now() + lifetime).timestamp())


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST


def _copy(recipient: CopyRecipient, until: int) -> tuple[bytes | int, ...]:
    return _COPY, recipient.pk, until, bytes(recipient.token_salt)


def _is_proven(proof: str, until: int, *parts: bytes | int) -> bool:
    given = proof.encode("utf-8", "replace")
    return any(tokens.same(each.encode(), given) for each in _proofs(until, *parts))


def _proofs(until: int, *parts: bytes | int) -> list[str]:
    """Return the hash of the parts by each key that may have made a ticket that holds until then, the newest first. A
    key that was replaced makes none any more."""
    content = [part.to_bytes(8, "big") if isinstance(part, int) else part for part in parts]
    return [
        tokens.base64url(tokens.keyed_hash(key, *content))
        for key, replaced_at in link_keys_until(TICKET)
        if replaced_at is None or until <= (replaced_at + IN_MAIL + _NOTICED).timestamp()
    ]
