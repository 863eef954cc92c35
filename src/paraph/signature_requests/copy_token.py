"""Links with which those who get copies open the sealed files and the proof: ``{id}.{until}.{hash}``, as a ticket of a
signer (:mod:`paraph.signature_requests.copy_ticket`) with the recipient in it. A new salt withdraws those of one.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.signature_requests.copy_ticket import IN_MAIL, keys_of
from paraph.signature_requests.models import CopyRecipient
from paraph.tenants.installation import TICKET, link_keys_until

_PURPOSE = b"copy"  # a signer's ticket is a hash of fewer parts
_LONGEST = 20  # digits of a number


@dataclass(frozen=True)
class RecipientLink:
    """What a link names, whether or not its time is over."""

    recipient: CopyRecipient
    until: datetime

    @property
    def is_over(self) -> bool:
        return clock.now() >= self.until


def copy_url(recipient: CopyRecipient) -> tuple[str, datetime]:
    """Return the absolute address of a new link, and until when it holds."""
    until = int((clock.now() + IN_MAIL).timestamp())
    token = f"{recipient.pk}.{until}.{_hash(link_keys_until(TICKET)[0][0], recipient, until)}"
    return f"{settings.PARAPH.public_url}/copies/{token}", datetime.fromtimestamp(until, UTC)


def link_of(text: str) -> RecipientLink | None:
    """Return what the token names, with the request and its organization loaded; None for other texts, and where the
    organization is deleted."""
    number, _, rest = text.partition(".")
    moment, _, given = rest.partition(".")
    if not (_is_number(number) and _is_number(moment) and int(number) < 2**63 and int(moment) < 10**11):
        return None
    related = ("request__organization", "request__branding_profile")
    recipient = CopyRecipient.objects.select_related(*related).filter(pk=int(number)).first()
    nobody = CopyRecipient(pk=0, token_salt=b"")
    right = [_hash(key, recipient or nobody, int(moment)) for key in keys_of(int(moment))]
    matches = any(tokens.same(each.encode(), given.encode("utf-8", "replace")) for each in right)
    if not matches or recipient is None or recipient.request.organization.deleted_at is not None:
        return None
    return RecipientLink(recipient, datetime.fromtimestamp(int(moment), UTC))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < _LONGEST


def _hash(key: bytes, recipient: CopyRecipient, until: int) -> str:
    named = recipient.pk.to_bytes(8, "big"), until.to_bytes(8, "big"), bytes(recipient.token_salt)
    return tokens.base64url(tokens.keyed_hash(key, _PURPOSE, *named))
