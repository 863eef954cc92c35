"""Tickets of signing pages that a member opens on their own device, for a signer who is there:
``{member}.{until}.{hash}``.

With it the page says whose turn it is, and the journal which member's device it was. It opens nothing: the page is
opened by the signing token, and a signature needs the code that the signer gets.
"""

from datetime import timedelta

from paraph.kernel import clock, tokens
from paraph.signature_requests.copy_ticket import keys_of
from paraph.signature_requests.models import Signer
from paraph.tenants.installation import TICKET, link_keys_until
from paraph.tenants.models import Member
from paraph.tenants.rights import Right, may

LIFETIME = timedelta(hours=12)
_PURPOSE = b"in person"
_LONGEST = 18  # digits of a number


def ticket(signer: Signer, member_id: int) -> str:
    until = int((clock.now() + LIFETIME).timestamp())
    return f"{member_id}.{until}.{_hash(link_keys_until(TICKET)[0][0], signer, member_id, until)}"


def member_of(signer: Signer, text: str) -> int | None:
    """Return the id of the member who opened the page of this signer; None for other texts, for tickets whose time is
    over, and where the member has left or may not send any more."""
    member, _, rest = text.partition(".")
    until, _, given = rest.partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) <= _LONGEST for part in (member, until)):
        return None
    if int(until) <= clock.now().timestamp():
        return None
    right = (_hash(key, signer, int(member), int(until)) for key in keys_of(int(until)))
    if not any(tokens.same(each.encode(), given.encode("utf-8", "replace")) for each in right):
        return None
    roles = Member.objects.filter(
        pk=int(member), organization=signer.request.organization_id, user__is_active=True
    ).values_list("role", flat=True)
    return int(member) if any(may(role, Right.SEND) for role in roles) else None


def _hash(key: bytes, signer: Signer, member_id: int, until: int) -> str:
    numbers = (signer.pk, member_id, until)
    return tokens.base64url(tokens.keyed_hash(key, _PURPOSE, *(number.to_bytes(8, "big") for number in numbers)))
