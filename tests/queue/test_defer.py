"""A job is the same however it gets into the queue."""

from typing import Any

import pytest
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob
from procrastinate.exceptions import TaskNotFound
from structlog.contextvars import bound_contextvars

from paraph.database import rows
from paraph.queue.defer import defer, job

pytestmark = pytest.mark.django_db


def test_a_job_that_is_inserted_as_a_row_is_like_one_that_is_deferred() -> None:
    with bound_contextvars(request_id="0123"):
        defer("invite", signer_id=7)
        rows.insert([job("invite", signer_id=7), job("invite", signer_id=7)])
    deferred, *inserted = map(_facts, ProcrastinateJob.objects.order_by("pk"))
    assert deferred["args"] == {"signer_id": 7, "trace": "0123"}
    assert inserted == [deferred, deferred]


def _facts(row: ProcrastinateJob) -> dict[str, Any]:
    """All columns but the id, and what the queue noted of it."""
    events = list(ProcrastinateEvent.objects.filter(job_id=row.pk).values_list("type", flat=True))
    fields = [field.attname for field in ProcrastinateJob._meta.concrete_fields if not field.primary_key]
    return {name: getattr(row, name) for name in fields} | {"events": events}


def test_a_task_that_nobody_knows_is_no_job() -> None:
    with pytest.raises(TaskNotFound):
        job("invent")
