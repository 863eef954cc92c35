"""Completed requests that something keeps from being finalized."""

from typing import Any

from paraph.evidence.failures import told
from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.operations.given_up import given_up


def sealing_failures(*, given_up_only: bool, limit: int) -> list[dict[str, Any]]:
    """Requests with a noted fault, the longest waiting first, as plain JSON.

    ``given_up``: a step has no job that would try it again; ``paraph request retry`` asks for one.
    """
    faults = SealingFailure.objects.filter(request__finalized=False).order_by("request_id")
    hopeless = given_up()
    if given_up_only:
        faults = faults.filter(request_id__in=hopeless)
    return [
        _row(fault, given_up=fault.request_id in hopeless)
        for fault in faults.select_related("request__organization")[:limit]
    ]


def finalization(request_id: int) -> dict[str, Any] | None:
    """What keeps a request from being finalized, in words for its client; None when nothing does."""
    fault = SealingFailure.objects.filter(request=request_id, request__finalized=False).first()
    if fault is None:
        return None
    return {
        "state": "given_up" if given_up([request_id]) else "retrying",
        "stage": fault.stage,
        "cause": told(fault),
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
