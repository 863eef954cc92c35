"""A job in the queue is as the queue itself would have put it there; its line in the log names what the job is about
by numbers, and holds nothing that a person wrote."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob
from procrastinate.exceptions import TaskNotFound
from structlog.contextvars import bound_contextvars
from structlog.testing import capture_logs

from paraph.database import rows
from paraph.queue.jobs import Reschedule, defer, job, logged

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
    """All columns of the job but its id, and the events that the queue noted of it."""
    events = list(ProcrastinateEvent.objects.filter(job_id=row.pk).values_list("type", flat=True))
    fields = [field.attname for field in ProcrastinateJob._meta.concrete_fields if not field.primary_key]
    return {name: getattr(row, name) for name in fields} | {"events": events}


def test_a_task_that_nobody_knows_is_no_job() -> None:
    with pytest.raises(TaskNotFound):
        job("invent")


def done(**_: Any) -> None:
    pass


def failed(**_: Any) -> None:
    raise OSError("the server said: Ada")


@pytest.mark.parametrize("verb", [done, failed])
def test_arguments_that_are_no_numbers_stay_out(verb: Callable[..., None]) -> None:
    for secret in ("c2VhbGVk", ["c2VhbGVk"], {"mail": "c2VhbGVk"}, b"c2VhbGVk", 1.5, True, None):
        with capture_logs() as lines, suppress(OSError):
            logged("mail_account", verb)(trace="0123456789abcdef", request_id=4, signer_id=7, sealed=secret)
        [line] = lines
        assert (line["task"], line["signature_request"], line["signer_id"]) == ("mail_account", 4, 7)
        assert not re.search("c2VhbGVk|sealed|Ada", repr(line)), secret


def test_one_that_is_put_off_likewise() -> None:
    class Full(Reschedule):
        reason, retry_after = "full", 5

    def later(**_: Any) -> None:
        raise Full

    with capture_logs() as lines, pytest.raises(Full):
        logged("mail_account", later)(sealed="c2VhbGVk")
    assert "sealed" not in lines[0]
