"""Deleting an organization, with the end of what it has under way."""

from typing import Any

from paraph.flow.end_deleted import end_requests_of_deleted
from paraph.operations.operator_acts import operator_act
from paraph.organizations import lifecycle
from paraph.organizations.overview import organization_facts


def delete_organization(organization_id: int) -> dict[str, Any]:
    """Deletes the organization, then ends its pending requests, each in a transaction of its own; a job ends those that
    a crash leaves. Returns its facts. Raises ``DomainError("not_found", …)``."""
    with operator_act("organization.deleted") as act:
        organization = lifecycle.delete_organization(organization_id)
        act.concerns(organization_id)
    return {**organization_facts(organization), "ended_requests": end_requests_of_deleted()}
