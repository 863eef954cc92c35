"""Whether the database has gone on without a break, or has lost what was acknowledged."""

from collections.abc import Iterator

from paraph.evidence.models import Timeline
from paraph.evidence.timelines import unsettled
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.operations.loss import Loss, loss

_SECONDS = 5.0


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
