"""Where the database has gone on from a standby or from an earlier moment, and what may be lost with it."""

from datetime import datetime

from django.db import connection
from django.db.models import Q

from paraph.evidence.models import Timeline
from paraph.kernel import clock


def unsettled() -> Timeline | None:
    """The first of those that no operator has dealt with yet."""
    return Timeline.objects.filter(settled_at=None).order_by("began_at").first()


def settle() -> int:
    """Notes that what was lost is dealt with: objects that no row names are removed again in their time. Returns how
    many timelines that was about."""
    return Timeline.objects.filter(settled_at=None).update(settled_at=clock.now())


def begin_anew(since: datetime) -> None:
    """Once a copy of the database was loaded, at that moment, into another server: its timelines are those of another
    one. Numbers that were given out after the copy was made are not given out again."""
    Timeline.objects.filter(Q(began_at__gte=since) | ~Q(settled_at=None)).delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT evidence_move_sequences_on(), evidence_follow_timeline()")
