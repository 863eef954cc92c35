"""What no request waits for, in numbers a minute: timestamps beside sealed files, deletion of files, people forgotten.

    python -m benchmarks.due_work [--seconds 120] [--clients 4] [--workers 2]

A service of its own makes as many requests as it can in so many seconds, as ``benchmarks.flow`` does. Then all are said
to have ended long ago, and one kind of work after another becomes due at once, for all of them. It is begun as the
clock would begin it; the workers share it. Times run from there until the database has nothing left that is due.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import flow
from benchmarks.footprint import footprint
from benchmarks.started_service import StartedService
from benchmarks.webhook_receiver import WebhookReceiver


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder, WebhookReceiver() as receiver:
        service = StartedService(Path(folder), PARAPH_WORKER_PROCESSES=str(arguments.workers))
        service.start()
        try:
            keys = flow._new_keys(Path(folder), receiver.url)
            made = flow._run(service.url, keys, receiver, clients=arguments.clients, seconds=arguments.seconds)
            print(f"{len(made.tally.ends)} requests, {arguments.workers} workers", flush=True)
            _measure(service)
        finally:
            service.stop()


def _measure(service: StartedService) -> None:
    from paraph.evidence import sealed_files
    from paraph.flow.housekeeping.retention import FILES, PEOPLE
    from paraph.kernel import clock
    from paraph.operations.pending_work import longest_overdue
    from paraph.signature_requests.models import SignatureRequest
    from paraph.tenants.models import Organization, Retention

    requests = SignatureRequest.objects.count()
    long_ago = clock.now() - timedelta(days=10)
    for kind in sealed_files.KINDS:
        kind.objects.update(timestamp_due_at=long_ago)
    with _timed("timestamps", 2 * requests, service):
        _work(lambda: sealed_files.overdue()[0])
    SignatureRequest.objects.update(completed_at=long_ago)
    rules = [Retention(organization=each, environment="sandbox", days=1) for each in Organization.objects.all()]
    Retention.objects.bulk_create(rules)
    with _timed("requests without files", requests, service):
        _work(lambda: longest_overdue(FILES))
    Retention.objects.update(people_days=1)
    with _timed("requests without people", requests, service):
        _work(lambda: longest_overdue(PEOPLE))
    assert SignatureRequest.objects.exclude(people_forgotten_at=None).count() == requests


@contextmanager
def _timed(what: str, count: int, service: StartedService) -> Iterator[None]:
    before, began = footprint(service.pid), time.perf_counter()
    yield
    elapsed, after = time.perf_counter() - began, footprint(service.pid)
    spent = {kind: (seconds - before.seconds.get(kind, 0)) / count * 1e3 for kind, seconds in after.seconds.items()}
    each = ", ".join(f"{kind} {ms:.1f}" for kind, ms in sorted(spent.items(), key=lambda one: -one[1]) if ms >= 0.1)
    print(
        f"{what}: {count / elapsed * 60:,.0f} a minute ({count} in {elapsed:.1f} s); ms of processor: {each}",
        flush=True,
    )


def _work(is_due: Callable[[], Any]) -> None:
    import paraph.flow.jobs  # noqa: F401  the tasks
    from paraph.queue.jobs import defer_last

    defer_last("do_what_is_due", part=0)
    while is_due():
        time.sleep(0.1)


if __name__ == "__main__":
    main()
