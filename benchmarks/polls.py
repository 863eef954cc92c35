"""What workers and ``paraph check`` ask the database of a service again and again, done when it is asked for.

    PARAPH_DATA_DIR=folder python -m benchmarks.polls

Prints their names as JSON, then a line each time that it has done what a line of its input names.
"""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "paraph.config.settings"
    import django

    django.setup()
    asked = _asked()
    print(json.dumps(list(asked)), flush=True)
    for line in sys.stdin:
        asked[line.strip()]()
        print("done", flush=True)


def _asked() -> dict[str, Callable[[], Any]]:
    from asgiref.sync import async_to_sync
    from procrastinate.contrib.django import app

    from paraph.database.migrations import migrate
    from paraph.flow.ending import expire_due
    from paraph.flow.jobs import give_up
    from paraph.kernel import clock
    from paraph.operations.check.backlog import kept_timestamps, queue, retention, unsealed, webhooks
    from paraph.queue.stalled_jobs import rescue_jobs
    from paraph.webhooks.delivery_queue import claim

    fetch: Any = async_to_sync(app.job_manager.fetch_job)
    checks = (queue, webhooks, unsealed, kept_timestamps, retention)
    return {
        "poll for a job": lambda: fetch(["mail"], None),
        "poll for webhooks": lambda: claim(10, 5, clock.now()),
        "requests that expire": expire_due,
        "jobs of dead workers": partial(rescue_jobs, give_up),
        "migrate, with nothing to do": migrate,
        **{f"check: {check.__name__.replace('_', ' ')}": check for check in checks},
    }


if __name__ == "__main__":
    main()
