"""Faults that keep completed requests from being finalized, for operators and for clients."""

from typing import Any

from paraph.evidence.failures import public_cause
from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.operations.given_up import given_up


def sealing_failures(*, given_up_only: bool, limit: int) -> list[dict[str, Any]]:
    """JSON objects of the requests with a recorded fault, oldest first.

    ``given_up`` is true when no job tries a step again, until ``paraph request retry`` defers one.
    """
    faults = SealingFailure.objects.filter(request__finalized=False).order_by("request_id")
    gave_up = given_up()
    if given_up_only:
        faults = faults.filter(request_id__in=gave_up)
    return [
        _row(fault, given_up=fault.request_id in gave_up)
        for fault in faults.select_related("request__organization")[:limit]
    ]


def finalization(request_id: int) -> dict[str, Any] | None:
    """The fault that keeps a request from being finalized, as its client may see it; None when there is none."""
    fault = SealingFailure.objects.filter(request=request_id, request__finalized=False).first()
    if fault is None:
        return None
    return {
        "state": "given_up" if given_up([request_id]) else "retrying",
        "stage": fault.stage,
        "cause": public_cause(fault),
        "attempts": fault.attempts,
        "failed_at": clock.iso(fault.failed_at),
    }


def _row(fault: SealingFailure, *, given_up: bool) -> dict[str, Any]:
    request = fault.request
    return {
        "request_id": request.pk,
        "organization_id": request.organization_id,
        "organization": request.organization.name,
        "environment": request.environment,
        "stage": fault.stage,
        "cause": fault.cause,
        "attempts": fault.attempts,
        "failed_at": clock.iso(fault.failed_at),
        "given_up": given_up,
    }
