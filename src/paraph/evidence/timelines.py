"""Where the database has gone on from a standby or from an earlier moment, what may be lost with it, and when it was
last backed up."""

from datetime import datetime

from django.db import connection
from django.db.models import Max, Q

from paraph.evidence.models import Backup, Timeline
from paraph.kernel import clock


def unsettled() -> Timeline | None:
    """Return the first of those that no operator has dealt with yet."""
    return Timeline.objects.filter(settled_at=None).order_by("began_at").first()


def settle() -> int:
    """Note that what was lost is dealt with: objects that no row names are removed again in their time. Return how
    many timelines that was about."""
    return Timeline.objects.filter(settled_at=None).update(settled_at=clock.now())


def begin_anew(since: datetime) -> None:
    """Once a copy of the database was loaded, at that moment, into another server: its timelines are those of another
    one. Numbers that were given out after the copy was made are not given out again."""
    Timeline.objects.filter(Q(began_at__gte=since) | ~Q(settled_at=None)).delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT evidence_move_sequences_on(), evidence_follow_timeline()")


def note_backup(as_of: datetime, problems: int) -> None:
    """Note a backup whose file is whole. A copy of the database does not hold its own note."""
    Backup.objects.create(as_of=as_of, problems=problems)


def newest_sound() -> datetime | None:
    """Return the moment that the newest backup without problems holds; None where there is none."""
    newest: datetime | None = Backup.objects.filter(problems=0).aggregate(newest=Max("as_of"))["newest"]
    return newest
