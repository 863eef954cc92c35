"""Completed requests that something keeps from being finalized."""

from typing import Any

from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.operations.steps import job_for, jobs_of, missing_steps


def stuck(*, given_up_only: bool, limit: int) -> list[dict[str, Any]]:
    """Requests with a noted fault, the longest waiting first, as plain JSON.

    ``given_up``: a step has no job that would try it again; ``paraph request retry`` asks for one.
    """
    faults = SealingFailure.objects.select_related("request").filter(request__finalized=False).order_by("request_id")
    found = []
    for fault in faults.iterator():
        given_up = _given_up(fault)
        if given_up or not given_up_only:
            found.append(_row(fault, given_up=given_up))
        if len(found) == limit:
            break
    return found


def _given_up(fault: SealingFailure) -> bool:
    jobs = jobs_of(fault.request)
    own = [job_for(step, jobs) for step in missing_steps(fault.request)]
    return any(job is None or not job.is_live for job in own)


def _row(fault: SealingFailure, *, given_up: bool) -> dict[str, Any]:
    return {
        "request_id": fault.request_id,
        "stage": fault.stage,
        "cause": fault.cause,
        "attempts": fault.attempts,
        "failed_at": clock.iso(fault.failed_at),
        "given_up": given_up,
    }
