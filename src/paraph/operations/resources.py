"""What the service can run out of: disks, connections of the database, the time of its certificates."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage

from django.conf import settings
from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import Metric

from paraph.flow.sealing.context import sealing_context
from paraph.kernel.errors import DomainError
from paraph.metrics import ledger
from paraph.operations.statements import rows
from paraph.pdf.pki.certificate import end_of
from paraph.postgres.location import find_location
from paraph.tenants.models import Environment

_CONNECTIONS = """
    SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity WHERE datname = current_database()
"""


def folders() -> dict[str, Path]:
    """Return the folders that the service writes to: ``data``, ``temporary`` and, if embedded, ``database``."""
    found = {"data": Path(settings.DATA_DIR), "temporary": Path(tempfile.gettempdir())}
    if not settings.PARAPH.database_url:
        found["database"] = find_location(settings.DATA_DIR, settings.PARAPH.postgres_dir).home
    return found


def used_shares() -> dict[str, float]:
    """Return the used share of each folder's disk as ``df`` counts, where it can be looked at."""
    shares = {}
    for name, folder in folders().items():
        with contextlib.suppress(OSError):
            usage = disk_usage(folder)
            shares[name] = usage.used / ((usage.used + usage.free) or 1)
    return shares


def database_connections() -> tuple[int, int]:
    """Return how many connections to this database are open, by whomever, and how many the server takes in all."""
    [(used, most)] = rows(_CONNECTIONS)
    return used, most


def certificate_ends() -> dict[str, float]:
    """Return when the first sealing certificate of each environment whose keys open ends, in seconds since 1970."""
    ends = {}
    for environment in Environment.values:
        with contextlib.suppress(DomainError, OSError):
            keys = sealing_context().keys(environment)
            ends[environment] = end_of((keys.documents.certificate, keys.proofs.certificate)).timestamp()
    return ends


def processes() -> Iterator[Metric]:
    """Yield what each process of this machine that counts takes of it, under the standard names (``process_*``)."""
    found: dict[str, Metric] = {}
    for pid in ledger.process_ids():
        with contextlib.suppress(OSError, ValueError):
            name, _, role = Path(f"/proc/{pid}/comm").read_text().strip().partition("-")
            collector = ProcessCollector(pid=lambda: pid, registry=None)  # noqa: B023  called at once
            for one in collector.collect() if name == "paraph" else []:  # else another process has the id now
                all_ = found.setdefault(one.name, Metric(one.name, one.documentation, one.type))
                for sample in one.samples:
                    all_.add_sample(sample.name, {"role": role, "pid": str(pid)}, sample.value)
    yield from found.values()
