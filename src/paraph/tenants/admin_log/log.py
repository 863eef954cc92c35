"""Noting entries in the activity log of an organization, and checking its chain of hashes."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import structlog
from django.db import connection, transaction

from paraph.kernel import clock
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.chain import GENESIS, entry_hash
from paraph.tenants.admin_log.models import Activity, ActorKind

_log = structlog.get_logger("paraph.operator")
_LOCK = "SELECT 1 FROM organizations_organization WHERE id = %s FOR NO KEY UPDATE"


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

    ``before`` and ``after`` are plain JSON and never hold a secret. Locks the organization's row, so that the chain
    has one writer. What an operator did stands in the service's log too, once it is committed.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [organization_id])
    last = Activity.objects.filter(organization_id=organization_id).order_by("-position").first()
    moment = clock.now()
    entry = Activity(
        organization_id=organization_id,
        position=last.position + 1 if last else 1,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor=actor.email,
        ip=actor.ip,
        action=action,
        subject=subject,
        before=before or {},
        after=after or {},
        created_at=max(moment, last.created_at) if last else moment,
        previous_hash=bytes(last.hash) if last else GENESIS,
    )
    entry.hash = entry_hash(facts(entry))
    entry.save(force_insert=True)
    if actor.kind == ActorKind.OPERATOR:
        transaction.on_commit(partial(_log.info, "operator", **_line(entry)))
    return entry


def note_export(organization_id: int, actor: Actor, asked: dict[str, str]) -> None:
    """Note that requests were exported, and by which filters they were chosen. Words that were searched may be a name,
    which could never be erased here: it is noted that there were some."""
    searched = {"q": "…"} if "q" in asked else {}
    with transaction.atomic():
        note(organization_id, actor, Action.REQUESTS_EXPORTED, after=asked | searched)


def facts(entry: Activity) -> dict[str, Any]:
    """Return the fields that the hash covers, which exports repeat."""
    return {
        "organization_id": entry.organization_id,
        "position": entry.position,
        "actor_kind": entry.actor_kind,
        "actor_id": entry.actor_id,
        "actor": entry.actor,
        "ip": entry.ip,
        "action": entry.action,
        "subject": entry.subject,
        "before": entry.before,
        "after": entry.after,
        "created_at": clock.iso_milliseconds(entry.created_at),
        "previous_hash": bytes(entry.previous_hash).hex(),
    }


def _line(entry: Activity) -> dict[str, Any]:
    return {
        "action": entry.action,
        "organization_id": entry.organization_id,
        "subject": entry.subject,
        "facts": entry.after,
    }


def broken_at(entries: Iterable[Activity]) -> int | None:
    """Return the position of the first entry that does not follow from those before it, None if the chain holds."""
    previous = GENESIS
    for expected, entry in enumerate(entries, start=1):
        follows = entry.position == expected and bytes(entry.previous_hash) == previous
        if not follows or entry_hash(facts(entry)) != bytes(entry.hash):
            return expected
        previous = bytes(entry.hash)
    return None
