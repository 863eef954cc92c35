"""What pages of operators look at: the service as ``paraph check`` sees it, kept in this process so that no page waits
for it; the work that waits, by kind; and the requests whose seals fail."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from django.db import connection, connections
from django.db.models import Count
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.evidence.failures import given_up
from paraph.evidence.models import SealingFailure
from paraph.flow.sealing.certificate_statuses import last_authority_chain
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome
from paraph.operations.check.sealing import certificate_ends
from paraph.operations.check.service_checks import run_checks
from paraph.queue.jobs import MAIL

_FRESH, _OLD = timedelta(seconds=30), timedelta(minutes=5)
_PATIENCE_SECONDS = 2.0
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Look:
    """``ends``: when certificates end, by environment or ``timestamp``."""

    at: datetime = _NEVER
    outcomes: list[Outcome] = field(default_factory=list)
    ends: dict[str, datetime] = field(default_factory=dict)


class LatestLook:
    """The latest look, which is renewed beside the pages that show it."""

    def __init__(self) -> None:
        self._look = Look()
        self._renewal = threading.Thread()
        self._lock = threading.Lock()

    def look(self) -> Look:
        """Return the latest look; one that is older than half a minute is being renewed. Only who would get one older
        than five minutes, or none, waits for the new one, for two seconds at most."""
        age = clock.now() - self._look.at
        with self._lock:
            if age > _FRESH and not self._renewal.is_alive():
                self._renewal = threading.Thread(target=self._renew, name="operators look", daemon=True)
                self._renewal.start()
        if age > _OLD:
            self._renewal.join(_PATIENCE_SECONDS)
        return self._look

    def _renew(self) -> None:
        outcomes = run_checks()
        ends = {name: datetime.fromtimestamp(moment, UTC) for name, moment in certificate_ends().items()}
        if chain := last_authority_chain():
            ends["timestamp"] = x509.load_der_x509_certificate(chain[0]).not_valid_after_utc
        connections.close_all()
        self._look = Look(clock.now(), outcomes, ends)


LATEST = LatestLook()


MOST_FAILURES = 20
_KINDS = {"finalize": "seals", "send_rows": "bulk sends"}
_TOLD = ("settings", "key")  # causes of these kinds name settings and hosts, and never a document
# At most 2000 jobs are looked at: an outage may leave a million.
_DUE = """
    SELECT queue_name, task_name, count(*), min(due) FROM (
        (SELECT queue_name, task_name, scheduled_at AS due FROM procrastinate_jobs
         WHERE status = 'todo' AND scheduled_at <= now() ORDER BY scheduled_at LIMIT 1000)
        UNION ALL
        (SELECT queue_name, task_name, (SELECT min(at) FROM procrastinate_events
                                        WHERE job_id = job.id AND type = 'deferred') FROM procrastinate_jobs AS job
         WHERE status = 'todo' AND scheduled_at IS NULL ORDER BY id LIMIT 1000)
    ) AS waiting GROUP BY 1, 2
"""


@dataclass
class Work:
    """``due``: how many jobs could begin now; ``since``: when the first of them could; ``gave_up``: how many are not
    tried again."""

    due: int = 0
    since: datetime | None = None
    gave_up: int = 0


def work() -> dict[str, Work]:
    found = {kind: Work() for kind in ("mails", *_KINDS.values(), "upkeep")}
    with connection.cursor() as cursor:
        cursor.execute(_DUE)
        for queue, task, count, since in cursor.fetchall():
            kind = found[_kind(queue, task)]
            kind.due, kind.since = kind.due + count, min(filter(None, (kind.since, since)), default=None)
    failed = ProcrastinateJob.objects.filter(status="failed").values_list("queue_name", "task_name")
    for queue, task, count in failed.annotate(Count("id")):
        found[_kind(queue, task)].gave_up += count
    return found


def _kind(queue: str, task: str) -> str:
    return _KINDS.get(task.rpartition(".")[2], "mails" if queue == MAIL else "upkeep")


def failures() -> list[tuple[SealingFailure, bool, str]]:
    """Return requests whose files could not be sealed, whether each has given up, and what of its cause is shown: a
    cause may quote a document."""
    rows = list(SealingFailure.objects.select_related("request__organization").order_by("failed_at")[:MOST_FAILURES])
    gave_up = given_up([row.request_id for row in rows])
    return [(row, row.request_id in gave_up, row.cause if row.kind in _TOLD else "") for row in rows]
