"""All metrics of the service in the text format of Prometheus."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from django.db import DatabaseError
from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from paraph import __version__
from paraph.confinement import MEASURES
from paraph.database.base import all_rows
from paraph.evidence import sealed_files
from paraph.evidence.failures import given_up
from paraph.evidence.models import SealingFailure
from paraph.flow.housekeeping.retention import FILES, PEOPLE
from paraph.metrics import metrics
from paraph.operations.check.backlog import oldest_unsealed_seconds, unsaved_since
from paraph.operations.check.machine import used_shares
from paraph.operations.check.outcome import Status
from paraph.operations.check.sealing import certificate_ends
from paraph.operations.check.service_checks import FIGURES
from paraph.operations.pending_work import longest_overdue, queue_state
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox import sandbox_confinement
from paraph.storage import store
from paraph.webhooks.all_deliveries import oldest_due_seconds

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_COUNTED = 10_000
"""The most jobs or deliveries of a kind to count: an outage may leave a million, and each scrape would read them."""

_KEPT = {"files": FILES, "people": PEOPLE}

# Goes from each kind of job to the next by the index that the counts read, too.
_JOBS = f"""
    WITH RECURSIVE kind AS (
        (SELECT status, task_name, queue_name FROM procrastinate_jobs ORDER BY 1, 2, 3 LIMIT 1)
        UNION ALL
        SELECT following.* FROM kind, LATERAL (
            SELECT status, task_name, queue_name FROM procrastinate_jobs AS job
            WHERE (job.status, job.task_name, job.queue_name) > (kind.status, kind.task_name, kind.queue_name)
            ORDER BY 1, 2, 3 LIMIT 1
        ) AS following
    )
    SELECT queue_name, task_name, status::text, (SELECT count(*) FROM (
        SELECT FROM procrastinate_jobs AS job
        WHERE job.status = kind.status AND job.task_name = kind.task_name AND job.queue_name = kind.queue_name
        LIMIT {_COUNTED}
    ) AS counted) FROM kind ORDER BY 1, 2, 3
"""  # noqa: S608  built from constants
_CONNECTIONS = """
    SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity WHERE datname = current_database()
"""
_WEBHOOKS = f"""
    SELECT CASE WHEN claimed_at IS NULL THEN 'waiting' ELSE 'sending' END, count(*) FROM (
        SELECT claimed_at FROM webhooks_delivery WHERE status = 'waiting' ORDER BY due_at LIMIT {_COUNTED}
    ) AS counted GROUP BY 1
"""  # noqa: S608  the same


def exposition() -> bytes:
    """Return the metrics that processes have counted and those read from the database now; while it does not answer,
    ``paraph_database_up`` is 0 and the latter are left out."""
    return generate_latest(_Collector(_everything))


def counted() -> bytes:
    """Return only the metrics that the processes of this data folder have counted."""
    return generate_latest(_Collector(_counts))


class _Collector(Collector):
    def __init__(self, families: Callable[[], Iterator[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return self._families()


def _counts() -> Iterator[Metric]:
    yield from metrics.summed()
    yield from _processes()
    yield InfoMetricFamily("paraph_build", "The version that answers.", value={"version": __version__})


def _everything() -> Iterator[Metric]:
    yield from _counts()
    yield _gauge("paraph_free_bytes", "Free space of the disk that uploads are written to.", store.free_bytes())
    text = "How full the disk of a folder that the service writes to is."
    yield _gauges("paraph_disk_used_ratio", text, "folder", used_shares())
    text = "When the certificate of seals ends, since 1970."
    yield _gauges("paraph_certificate_end_seconds", text, "environment", certificate_ends())
    text = "Whether a measure confines the processes that read PDFs."
    yield _gauges("paraph_confinement", text, "measure", _measures())
    try:
        now = list(_from_database())
    except DatabaseError:
        yield _gauge("paraph_database_up", "Whether the database answers.", 0)
        return
    yield _gauge("paraph_database_up", "Whether the database answers.", 1)
    yield from now
    # Last, since most checks wait for the database too, and a scrape may take only ten seconds.
    order = list(Status)
    lines = {line: order.index(status) for line, status in FIGURES.statuses().items()}
    yield _gauges("paraph_check", "Lines of paraph check: 0 ok, 1 warning, 2 failed.", "line", lines)


def _processes() -> Iterator[Metric]:
    """Yield the resources that each counting process uses on this machine, under the standard names (``process_*``)."""
    found: dict[str, Metric] = {}
    for pid in metrics.process_ids():
        with contextlib.suppress(OSError, ValueError):
            name, _, role = Path(f"/proc/{pid}/comm").read_text().strip().partition("-")
            collector = ProcessCollector(pid=lambda: pid, registry=None)  # noqa: B023  called at once
            for one in collector.collect() if name == "paraph" else []:  # else another process has the id now
                all_ = found.setdefault(one.name, Metric(one.name, one.documentation, one.type))
                for sample in one.samples:
                    all_.add_sample(sample.name, {"role": role, "pid": str(pid)}, sample.value)
    yield from found.values()


def _measures() -> dict[str, bool]:
    try:
        taken = sandbox_confinement().measures
    except ReadersUnavailable:
        return {}
    return {measure.lower(): measure in taken for measure in MEASURES}


def _from_database() -> Iterator[Metric]:
    jobs = GaugeMetricFamily(
        "paraph_jobs",
        "Jobs in the queue, up to 10000 of a kind; those that succeeded leave it.",
        labels=["queue", "task", "state"],
    )
    for queue, task, state, count in all_rows(_JOBS):
        jobs.add_metric([queue, task.rpartition(".")[2], state], count)
    yield jobs
    [(used, most)] = all_rows(_CONNECTIONS)
    yield _gauge("paraph_database_connections", "Open connections to the database.", used)
    yield _gauge("paraph_database_connections_limit", "Connections that the database server takes in all.", most)
    state = queue_state()
    yield _gauge("paraph_queue_age_seconds", "How long the oldest due job has been due.", state.oldest_seconds)
    yield _gauge("paraph_workers", "Worker processes that are alive.", state.workers)
    failures = SealingFailure.objects.count()
    yield _gauge("paraph_sealing_failures", "Completed requests that wait because of a fault.", failures)
    gave_up = len(given_up()) if failures else 0
    yield _gauge("paraph_sealing_failures_given_up", "Those of them that no job tries again.", gave_up)
    waits = oldest_unsealed_seconds()
    yield _gauge("paraph_unsealed_age_seconds", "How long the oldest completed request waits for its seals.", waits)
    text = "Webhooks on their way, up to 10000 in a state."
    yield _gauges("paraph_webhooks", text, "state", dict(all_rows(_WEBHOOKS)))
    yield _gauge("paraph_webhook_age_seconds", "How long the oldest due webhook has been due.", oldest_due_seconds())
    missing, seconds = sealed_files.overdue()
    text = "Sealed files that have needed a timestamp for an hour or more, up to 40000."
    yield _gauge("paraph_timestamps_overdue", text, missing)
    overdue = {kind: each.seconds if (each := longest_overdue(kept)) else 0 for kind, kept in _KEPT.items()}
    text = "How long the longest overdue timestamp, deletion of files or forgetting of people has been due."
    yield _gauges("paraph_overdue_seconds", text, "kind", {"timestamps": seconds, **overdue})
    since = unsaved_since()
    if since:
        text = "When the newest sound backup was made, since 1970; before the first, when the service was first used."
        yield _gauge("paraph_backup_seconds", text, since.timestamp())


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
