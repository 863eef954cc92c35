"""When members were last here, to within minutes."""

from datetime import timedelta

from paraph.kernel import clock
from paraph.tenants.models import Member

_PRECISION = timedelta(minutes=5)


def seen(member: Member) -> None:
    """Dates the member's visit, at most every five minutes: pages need not write each time."""
    now = clock.now()
    if member.last_seen_at is None or member.last_seen_at <= now - _PRECISION:
        Member.objects.filter(pk=member.pk).update(last_seen_at=now)
        member.last_seen_at = now
