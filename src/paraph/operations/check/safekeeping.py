"""What was acknowledged is kept, backups are made, and files go when their time is over."""

from collections.abc import Iterator
from datetime import timedelta

from paraph.documents import objects_to_delete
from paraph.evidence.models import Timeline
from paraph.evidence.timelines import newest_sound, unsettled
from paraph.flow.housekeeping.delete_files import overdue
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.operations.loss import Loss, loss
from paraph.tenants.models import Retention

_SECONDS = 5.0
_OLD = timedelta(days=8)  # a weekly backup is no finding
_OBJECTS_LATE = timedelta(hours=1)
_REQUESTS_LATE = timedelta(days=1)


def history() -> Iterator[Outcome]:
    """``history``: whether a standby has taken over, or the database went back, and what is lost with it."""
    timeline = unsettled()
    if not timeline:
        yield ok("history", "No standby has taken over and nothing was taken back that is not dealt with.")
        return
    found = loss(timeline, _SECONDS)
    if found.anything:
        yield failed("history", f"{_went_on(timeline)} and lost {_words(found)}: run paraph reconcile on each machine.")
        return
    seen = "this machine misses nothing" if found.complete else "not all objects could be looked at"
    yield warning("history", f"{_went_on(timeline)}; {seen}: run paraph reconcile on each machine.")


def _went_on(timeline: Timeline) -> str:
    moment = clock.iso(timeline.began_at)
    return f"The database went on from a standby or from an earlier moment on {moment} (timeline {timeline.number})"


def _words(found: Loss) -> str:
    parts = [
        (len(found.requests), "what was acknowledged of {} requests"),
        (len(found.webhooks), "the requests of {} webhooks that were sent"),
        (len(found.objects), "the rows of {} objects"),
    ]
    told = ", ".join(words.format(number) for number, words in parts if number)
    return told if found.complete else f"{told} at least"


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
