"""How a verb asks for the work that follows it: one job row, in the transaction that needs it.

There are two lanes, each with jobs at a time of its own in every worker (docs/decisions/lanes.md): a mail server that
hangs holds up mails, and no seal.
"""

from procrastinate.contrib.django import app

from paraph.queue.job_logging import carried

MAIL = "mail"
LANES = ("default", MAIL)


def defer(task: str, **arguments: int) -> None:
    """Adds a job for a task of :mod:`paraph.flow.jobs`, named as its function is.

    By name, because a job calls the verb and a verb defers the next job: importing both ways would be a cycle.
    Inside a transaction the job exists only if the transaction commits. The id of the HTTP request goes along.
    """
    app.configure_task(f"paraph.flow.jobs.{task}", allow_unknown=False).defer(**arguments, **carried())
