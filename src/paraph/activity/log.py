"""Noting acts in the activity log of an organization, and checking its chain of hashes."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django.db import connection

from paraph.activity.actions import Action
from paraph.activity.actor import Actor
from paraph.activity.models import Activity
from paraph.kernel import clock

GENESIS = bytes(32)
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
    """Appends an act to the organization's log. Call it in the transaction of the change that it tells of.

    ``before`` and ``after`` are plain JSON and never hold a secret. Locks the organization's row, so that the chain
    has one writer.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [organization_id])
    last = Activity.objects.filter(organization_id=organization_id).order_by("-position").first()
    moment = clock.now()
    act = Activity(
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
    act.hash = act_hash(act)
    act.save(force_insert=True)
    return act


def act_hash(act: Activity) -> bytes:
    """Returns the SHA-256 of :func:`facts` as canonical JSON: keys sorted, no white space, UTF-8."""
    text = json.dumps(facts(act), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def facts(act: Activity) -> dict[str, Any]:
    """Returns the fields that the hash covers, which exports repeat."""
    return {
        "organization_id": act.organization_id,
        "position": act.position,
        "actor_kind": act.actor_kind,
        "actor_id": act.actor_id,
        "actor": act.actor,
        "ip": act.ip,
        "action": act.action,
        "subject": act.subject,
        "before": act.before,
        "after": act.after,
        "created_at": clock.iso_milliseconds(act.created_at),
        "previous_hash": bytes(act.previous_hash).hex(),
    }


def broken_at(acts: Iterable[Activity]) -> int | None:
    """Returns the position of the first act that does not follow from those before it, None if the chain holds."""
    previous = GENESIS
    for expected, act in enumerate(acts, start=1):
        if act.position != expected or bytes(act.previous_hash) != previous or act_hash(act) != bytes(act.hash):
            return expected
        previous = bytes(act.hash)
    return None
