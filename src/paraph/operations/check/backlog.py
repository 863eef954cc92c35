"""Work that waits: jobs, webhooks, completed requests without seals, files beyond their retention, a missing backup."""

from datetime import datetime, timedelta

from django.db.models import Max, Min, OuterRef, Subquery

from paraph.database.base import all_rows
from paraph.documents import objects_to_delete
from paraph.evidence import sealed_files
from paraph.evidence.failures import given_up
from paraph.evidence.models import Backup, SealingFailure
from paraph.flow.housekeeping.retention import FILES, PEOPLE
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.operations.pending_work import QueueState, longest_overdue, queue_state
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.tenants.models import Environment, Organization
from paraph.webhooks.all_deliveries import oldest_due_seconds

_SLOW, _STUCK = 60, 600  # seconds after which due work is a warning, and a failure
_LONG_FAILING = timedelta(hours=1)
_DAY, _WEEK = 86_400, 604_800


def queue() -> list[Outcome]:
    """``workers``: whether any is alive; ``queue``: whether due jobs wait for long."""
    state = queue_state()
    late = f" {state.failed} jobs have given up: paraph request show names them." if state.failed else ""
    if state.oldest_seconds < _SLOW:
        told, sentence = warning if state.failed else ok, f"{state.due} jobs are due, none of them for long."
    else:
        told = failed if state.oldest_seconds > _STUCK else warning
        sentence = f"The oldest of {state.due} due jobs has waited for {_words(state.oldest_seconds)}."
    return [_workers(state), told(f"{sentence}{late}", "queue")]


def webhooks() -> Outcome:
    """``webhooks``: whether deliveries are late. A delivery that waits for its retry is not due."""
    seconds = oldest_due_seconds()
    if seconds < _SLOW:
        return ok("No webhook is late.")
    late = f"The oldest webhook should have been sent {_words(seconds)} ago."
    return (failed if seconds > _STUCK else warning)(late)


def unsealed() -> Outcome:
    """``sealing failures``: completed requests that could not be sealed, proven or published yet."""
    # A subquery looks up each request by itself: a join might read all requests for a few failures.
    completed_at = Subquery(SignatureRequest.objects.filter(pk=OuterRef("request_id")).values("completed_at"))
    failures = SealingFailure.objects.order_by(completed_at).values_list("request_id", "cause", completed_at)
    longest = failures.first()
    if longest is None:
        return ok("No completed request waits for its seal because of a fault.")
    gave_up = len(given_up())
    if gave_up:
        requests = f"{gave_up} completed request{'s were' if gave_up > 1 else ' was'} given up"
        more = "paraph request list --failed shows them and why, paraph request retry has one tried again."
        return failed(f"{requests}, no job tries to finalize them any more: {more}")
    request_id, cause, since = longest
    waiting = max(1, SealingFailure.objects.count())  # some may be sealed meanwhile
    count = f"{waiting} completed request{'s wait' if waiting > 1 else ' waits'}"
    sentence = f"{count} for a seal because of a fault; paraph request show {request_id} says more: {cause}"
    return (failed if clock.now() - since > _LONG_FAILING else warning)(sentence)


def oldest_unsealed_seconds() -> float:
    """Return how long the oldest completed request of production waits for its seals, because of a fault or of work
    before it; 0 where none waits."""
    waiting = SignatureRequest.objects.filter(status=RequestStatus.COMPLETED, finalized=False, files_deleted_at=None)
    oldest = waiting.filter(environment=Environment.PRODUCTION).aggregate(oldest=Min("completed_at"))["oldest"]
    return max(0.0, (clock.now() - oldest).total_seconds()) if oldest else 0.0


def kept_timestamps() -> Outcome:
    """``kept timestamps``: sealed files whose next detached timestamp is overdue."""
    files, seconds = sealed_files.overdue()
    if not files:
        return ok("No sealed file waits for a timestamp.")
    wait = f"{files} sealed file{'s wait' if files > 1 else ' waits'} for a timestamp beside it"
    sentence = f"{wait}, due {_words(seconds)} ago at the earliest. {_SAYS_WHY}"
    return (failed if seconds > _WEEK else warning)(sentence)


def _workers(state: QueueState) -> Outcome:
    if state.workers:
        return ok(f"{state.workers} worker process{'es are' if state.workers > 1 else ' is'} alive.", "workers")
    if state.used:
        waiting = f", and {state.due} due job{'s wait' if state.due > 1 else ' waits'}" if state.due else ""
        return failed(f"No worker is alive{waiting}: start paraph worker or paraph serve.", "workers")
    return warning("No worker is alive, and there was no job yet.", "workers")


def _words(seconds: float) -> str:
    """Return the duration in the largest unit in which it is at least two."""
    size, unit = next((each for each in _UNITS if seconds >= 2 * each[0]), (1, "s"))
    return f"{seconds / size:.0f} {unit}"


_UNITS = ((_DAY, "days"), (3600, "h"), (60, "min"))
_SAYS_WHY = "The log of the workers says why; where they are only busy, more workers do more."

_OLD = timedelta(days=8)  # a backup every week is often enough
_FIRST = timedelta(days=1)
_OBJECTS_LATE = timedelta(hours=1)

_ARCHIVED = "SELECT last_archived_time FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'"


def unsaved_since() -> datetime | None:
    """Return the moment whose state the newest backup without problems holds; before the first backup, when the first
    organization was created; None if there is no organization either."""
    newest: datetime | None = Backup.objects.filter(problems=0).aggregate(newest=Max("as_of"))["newest"]
    return newest or Organization.objects.order_by("pk").values_list("created_at", flat=True).first()


def backup() -> Outcome:
    """``backup``: the age of the newest ``paraph backup``, unless PostgreSQL archives its write-ahead log."""
    since, is_made = unsaved_since(), Backup.objects.filter(problems=0).exists()
    archived = next((last for (last,) in all_rows(_ARCHIVED)), None)
    if archived and clock.now() - archived < _OLD:
        return ok(f"PostgreSQL archives what it writes, last at {clock.iso(archived)}.")
    newest = "None was made yet"
    if since and is_made:
        newest = f"The newest backup without problems is of {clock.iso(since)}"
    if since and clock.now() - since > (_OLD if is_made else _FIRST):
        return warning(f"{newest}: run paraph backup. Copies made by other means are not seen.")
    return ok(f"{newest}.")


def retention() -> Outcome:
    """``retention``: whether files and people are kept long beyond their retention."""
    since = objects_to_delete.waiting_since()
    if since and clock.now() - since > _OBJECTS_LATE:
        return warning(f"Files have waited to be deleted from the store since {clock.iso(since)}. {_SAYS_WHY}")
    late = [(each, what) for what, kept in (("Files", FILES), ("People", PEOPLE)) if (each := longest_overdue(kept))]
    longest, what = max(late, default=(None, ""))
    if longest is None or longest.seconds < _DAY:
        return ok("Nothing is kept beyond its retention.")
    whose = f"organization {longest.organization_id}, {longest.environment}"
    sentence = f"{what} are kept {_words(longest.seconds)} beyond their retention ({whose}). {_SAYS_WHY}"
    return (failed if longest.seconds > _WEEK else warning)(sentence)
