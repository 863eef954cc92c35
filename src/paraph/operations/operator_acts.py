"""Acts of operators: each is recorded in the transaction of what it changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import transaction

from paraph.activity.actions import Action
from paraph.activity.actor import OPERATOR
from paraph.activity.log import note

_log = structlog.get_logger("paraph.operator")


@dataclass
class Act:
    """``action`` names what was done, such as ``organization.suspended``."""

    action: str
    organization_id: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def concerns(self, organization_id: int, **facts: Any) -> None:
        """States whom the act is about, and what was changed; never a secret."""
        self.organization_id, self.facts = organization_id, facts


@contextmanager
def operator_act(action: str) -> Iterator[Act]:
    """Runs the block in a transaction, at whose end the act is recorded. Nothing is where the block raises."""
    act = Act(action)
    with transaction.atomic():
        yield act
        _record(act)


def log_act(action: str, organization_id: int | None, **facts: Any) -> None:
    """Logs an act that its verb has noted in the organization's activity log already."""
    _log.info("operator", action=action, organization_id=organization_id, **facts)


def _record(act: Act) -> None:
    if act.organization_id is not None:
        note(act.organization_id, OPERATOR, Action(act.action), after=act.facts)
    log_act(act.action, act.organization_id, **act.facts)
