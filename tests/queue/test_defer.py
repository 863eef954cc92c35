"""A job in the queue, as the queue itself would have put it there."""

from typing import Any

import pytest
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob
from procrastinate.exceptions import TaskNotFound
from structlog.contextvars import bound_contextvars

from paraph.database import rows
from paraph.queue.jobs import defer, job

pytestmark = pytest.mark.django_db


def test_a_job_is_as_procrastinate_itself_makes_it() -> None:
    arguments: dict[str, Any] = {"signer_id": 7, "trace": "0123"}
    with bound_contextvars(request_id="0123"):
        app.configure_task("paraph.flow.jobs.invite", allow_unknown=False).defer(**arguments)
        defer("invite", signer_id=7)
        rows.insert([job("invite", signer_id=7), job("invite", signer_id=7)])
    theirs, *ours = map(_facts, ProcrastinateJob.objects.order_by("pk"))
    assert theirs["args"] == arguments and theirs["events"] == ["deferred"]
    assert ours == [theirs, theirs, theirs]


def _facts(row: ProcrastinateJob) -> dict[str, Any]:
    """All columns but the id, and what the queue noted of it."""
    events = list(ProcrastinateEvent.objects.filter(job_id=row.pk).values_list("type", flat=True))
    fields = [field.attname for field in ProcrastinateJob._meta.concrete_fields if not field.primary_key]
    return {name: getattr(row, name) for name in fields} | {"events": events}


def test_a_task_that_nobody_knows_is_no_job() -> None:
    with pytest.raises(TaskNotFound):
        job("invent")
