"""Noting entries in the activity log of an organization."""

from functools import partial
from typing import Any

import structlog
from django.db import transaction

from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.models import Activity, ActorKind

_log = structlog.get_logger("paraph.operator")


def note(
    organization_id: int,
    actor: Actor,
    action: Action,
    subject: str = "",
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> Activity:
    """Append an entry to the organization's log. Call it in the transaction of the change that it tells of.

    ``before`` and ``after`` are plain JSON and never hold a secret. What an operator did stands in the service's log
    too, once it is committed.
    """
    entry = Activity.objects.create(
        organization_id=organization_id,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor=actor.email,
        ip=actor.ip,
        action=action,
        subject=subject,
        before=before or {},
        after=after or {},
    )
    if actor.kind == ActorKind.OPERATOR:
        transaction.on_commit(partial(_log.info, "operator", **_line(entry)))
    return entry


def note_export(organization_id: int, actor: Actor, asked: dict[str, str]) -> None:
    """Note that requests were exported, and by which filters. Words that were searched may be a name, which could never
    be erased here, so the entry says no more than that there were some."""
    searched = {"q": "…"} if "q" in asked else {}
    with transaction.atomic():
        note(organization_id, actor, Action.REQUESTS_EXPORTED, after=asked | searched)


def _line(entry: Activity) -> dict[str, Any]:
    return {
        "action": entry.action,
        "organization_id": entry.organization_id,
        "subject": entry.subject,
        "facts": entry.after,
    }
