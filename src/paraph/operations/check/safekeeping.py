"""Backups are made, and files go when their time is over."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Max

from paraph.documents import objects_to_delete
from paraph.evidence.models import Backup
from paraph.flow.housekeeping.delete_files import overdue
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, ok, warning
from paraph.tenants.models import Retention

_OLD = timedelta(days=8)  # a weekly backup is no finding
_OBJECTS_LATE = timedelta(hours=1)
_REQUESTS_LATE = timedelta(days=1)


def newest_sound() -> datetime | None:
    """Return the moment that the newest backup without problems holds; None where there is none."""
    newest: datetime | None = Backup.objects.filter(problems=0).aggregate(newest=Max("as_of"))["newest"]
    return newest


def backup() -> Iterator[Outcome]:
    """``backup``: the age of the newest one by ``paraph backup``."""
    newest = newest_sound()
    if newest is None:
        yield ok("backup", "None without problems was made by paraph backup; copies made by other means are not seen.")
    elif clock.now() - newest > _OLD:
        yield warning("backup", f"The newest backup without problems is of {clock.iso(newest)}: run paraph backup.")
    else:
        yield ok("backup", f"The newest backup without problems is of {clock.iso(newest)}.")


def retention() -> Iterator[Outcome]:
    """``retention``: whether files whose time is over wait for their deletion for long."""
    since = objects_to_delete.waiting_since()
    late = [rule for rule in Retention.objects.all() if overdue(rule, _REQUESTS_LATE).exists()]
    if since and clock.now() - since > _OBJECTS_LATE:
        sentence = f"Files wait to be deleted from the store since {clock.iso(since)}: the log of the workers says why."
        yield warning("retention", sentence)
    elif late:
        where = f"organization {late[0].organization_id}, {late[0].environment}"
        sentence = (
            f"Files are kept for a day or more beyond their retention ({where}): the log of the workers says why."
        )
        yield warning("retention", sentence)
    else:
        yield ok("retention", "No file is kept beyond its retention.")
