"""All metrics of the service in the text format of Prometheus."""

import contextlib
from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError, connection
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from paraph import __version__
from paraph.confinement import MEASURES
from paraph.evidence import preservation
from paraph.evidence.models import SealingFailure
from paraph.evidence.sealing_failures import given_up
from paraph.metrics import instruments
from paraph.operations.check.outcome import Status
from paraph.operations.check.readiness import READINESS
from paraph.operations.check.safekeeping import newest_sound
from paraph.operations.pending_work import queue_state
from paraph.operations.resources import certificate_ends, database_connections, used_shares
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox_process import sandbox_confinement
from paraph.storage import store
from paraph.webhooks.overview import oldest_due_seconds

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_COUNTED = 10_000
"""So many of a kind are counted: an outage may leave a million that wait, and each look would read them all."""

# From each kind of job to the next, by the index that the count of each reads, too.
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
_WEBHOOKS = f"""
    SELECT CASE WHEN claimed_at IS NULL THEN 'waiting' ELSE 'sending' END, count(*) FROM (
        SELECT claimed_at FROM webhooks_delivery WHERE status = 'waiting' ORDER BY due_at LIMIT {_COUNTED}
    ) AS counted GROUP BY 1
"""  # noqa: S608  the same


def exposition() -> bytes:
    """Return the metrics that processes have counted and those read from the database now; while it does not answer,
    ``paraph_database_up`` is 0 and stands for the latter."""
    return _written(_Collector())


def counted() -> bytes:
    """Return only the metrics that the processes of this data folder have counted."""
    return _written(_CountsAlone())


def _written(collector: Collector) -> bytes:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)


class _CountsAlone(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from instruments.summed()
        yield InfoMetricFamily("paraph_build", "The version that answers.", value={"version": __version__})


class _Collector(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from _CountsAlone().collect()
        yield _gauge("paraph_free_bytes", "Free space of the disk that uploads are written to.", store.free_bytes())
        yield from _disks_and_certificates()
        yield from _confinement()
        try:
            now = list(_from_database())
        except DatabaseError:
            yield _gauge("paraph_database_up", "Whether the database answers.", 0)
            return
        yield _gauge("paraph_database_up", "Whether the database answers.", 1)
        yield from now
        yield _checks()  # most of them would wait for the database as well, and a scrape is over after ten seconds


def _disks_and_certificates() -> Iterator[Metric]:
    disks = GaugeMetricFamily(
        "paraph_disk_used_ratio", "How full the disk of a folder that the service writes to is.", labels=["folder"]
    )
    for folder, share in used_shares().items():
        disks.add_metric([folder], share)
    yield disks
    ends = GaugeMetricFamily(
        "paraph_certificate_end_seconds", "When the certificate of seals ends, since 1970.", labels=["environment"]
    )
    for environment, end in certificate_ends().items():
        ends.add_metric([environment], end)
    yield ends


def _confinement() -> Iterator[Metric]:
    confined = GaugeMetricFamily(
        "paraph_confinement", "Whether a measure confines the processes that read PDFs.", labels=["measure"]
    )
    with contextlib.suppress(ReadersUnavailable):
        measures = sandbox_confinement().measures
        for measure in MEASURES:
            confined.add_metric([measure.lower()], measure in measures)
    yield confined


def _checks() -> Metric:
    """Report the checks that ``/readyz`` relies on, so that looks at both cost no more than at one."""
    told = GaugeMetricFamily("paraph_check", "Lines of paraph check: 0 ok, 1 warning, 2 failed.", labels=["line"])
    order = list(Status)
    for line, status in READINESS.readiness().parts.items():
        told.add_metric([line], order.index(Status(status)))
    return told


def _from_database() -> Iterator[Metric]:
    jobs = GaugeMetricFamily(
        "paraph_jobs",
        "Jobs in the queue, up to 10000 of a kind; those that succeeded leave it.",
        labels=["queue", "task", "state"],
    )
    for queue, task, state, count in _rows(_JOBS):
        jobs.add_metric([queue, task.rpartition(".")[2], state], count)
    yield jobs
    used, most = database_connections()
    yield _gauge("paraph_database_connections", "Open connections to the database.", used)
    yield _gauge("paraph_database_connections_limit", "Connections that the database server takes in all.", most)
    state = queue_state()
    yield _gauge("paraph_queue_age_seconds", "How long the oldest due job has been due.", state.oldest_seconds)
    yield _gauge("paraph_workers", "Worker processes that are alive.", state.workers)
    failures = SealingFailure.objects.count()
    yield _gauge("paraph_sealing_failures", "Completed requests that wait because of a fault.", failures)
    gave_up = len(given_up()) if failures else 0
    yield _gauge("paraph_sealing_failures_given_up", "Those of them that no job tries again.", gave_up)
    webhooks = GaugeMetricFamily("paraph_webhooks", "Webhooks on their way, up to 10000 in a state.", labels=["state"])
    for status, count in _rows(_WEBHOOKS):
        webhooks.add_metric([status], count)
    yield webhooks
    late = oldest_due_seconds()
    yield _gauge("paraph_webhook_age_seconds", "How long the oldest due webhook has been due.", late)
    missing = preservation.overdue()
    yield _gauge("paraph_timestamps_overdue", "Sealed files that lack a timestamp for an hour or more.", missing)
    backups = GaugeMetricFamily("paraph_backup_seconds", "When the newest sound backup was made, since 1970.")
    newest = newest_sound()
    if newest:
        backups.add_metric([], newest.timestamp())
    yield backups


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _rows(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
