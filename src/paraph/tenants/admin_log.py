"""The activity log: what members and operators did with an organization, in rows that only grow."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import structlog
from django.db import transaction

from paraph.tenants.models import Activity, ActorKind

_log = structlog.get_logger("paraph.operator")


class Action(StrEnum):
    """Named ``subject.verb``, in the past tense. A released name never changes: entries hold it."""

    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_UPDATED = "organization.updated"
    MEMBER_INVITED = "member.invited"
    INVITATION_RESENT = "invitation.resent"
    INVITATION_WITHDRAWN = "invitation.withdrawn"
    MEMBER_JOINED = "member.joined"
    MEMBER_ROLE_CHANGED = "member.role_changed"
    MEMBER_REMOVED = "member.removed"
    MEMBER_LEFT = "member.left"
    APPLICATION_CREATED = "application.created"
    APPLICATION_UPDATED = "application.updated"
    APPLICATION_REVOKED = "application.revoked"
    APPLICATION_ROTATED = "application.rotated"
    KEY_REVOKED = "key.revoked"
    ORGANIZATION_SUSPENDED = "organization.suspended"
    ORGANIZATION_RESUMED = "organization.resumed"
    ORGANIZATION_DELETED = "organization.deleted"
    REQUEST_ENDED_EARLY = "request.ended_early"
    RETENTION_SET = "retention.set"
    PEOPLE_FORGOTTEN = "people.forgotten"
    SIGNER_ERASED = "signer.erased"
    ADDRESS_ERASED = "address.erased"
    REQUEST_SENT = "request.sent"
    REQUEST_EXTENDED = "request.extended"
    REQUEST_REWORDED = "request.reworded"
    SIGNER_CORRECTED = "signer.corrected"
    SIGNER_REMINDED = "signer.reminded"
    DELIVERY_SENT_AGAIN = "delivery.sent_again"
    WEBHOOK_TESTED = "webhook.tested"
    BRANDING_CREATED = "branding.created"
    BRANDING_UPDATED = "branding.updated"
    BRANDING_DELETED = "branding.deleted"
    SIGNER_ASKED = "signer.asked"
    SIGNER_DECLINED = "signer.declined"
    ACTIVITY_EXPORTED = "activity.exported"
    PASSWORD_CHANGED = "account.password_changed"  # noqa: S105  no password
    ADDRESS_CHANGED = "account.address_changed"
    SECOND_FACTOR_ADDED = "account.second_factor_added"
    SECOND_FACTOR_REMOVED = "account.second_factor_removed"
    REQUESTS_EXPORTED = "requests.exported"
    SIGNING_LINK_SHOWN = "signing_link.shown"
    DOCUMENT_UPLOADED = "document.uploaded"
    DOCUMENT_DELETED = "document.deleted"
    TEMPLATE_SAVED = "template.saved"
    TEMPLATE_CHANGED = "template.changed"
    TEMPLATE_DELETED = "template.deleted"
    BULK_SEND_STARTED = "bulk_send.started"
    BULK_SEND_CANCELLED = "bulk_send.cancelled"
    ADDRESS_ASKED = "confirmed_address.asked"
    ADDRESS_VOUCHED_FOR = "confirmed_address.vouched_for"
    ADDRESS_WITHDRAWN = "confirmed_address.withdrawn"


@dataclass(frozen=True)
class Actor:
    """``id`` and ``email`` are those of the account of a member or of an operator in a browser, or ``id`` that of an
    application; of an operator who gives a command, ``email`` is the name. ``ip``: the address of the call."""

    kind: str
    id: int | None = None
    email: str = ""
    ip: str = ""


OPERATOR = Actor(ActorKind.OPERATOR)
SERVICE = Actor(ActorKind.SERVICE)
SIGNER = Actor(ActorKind.SIGNER)
"""Whoever signs: the log names request and signer by their ids alone, so that a signer can be erased."""


def note(
    organization_id: int | None,
    actor: Actor,
    action: str,
    subject: str = "",
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> Activity:
    """Append an entry to the organization's log. Call it in the transaction of the change that it tells of.

    ``action`` is an :class:`Action`; without an organization the entry is the installation's, and ``action`` the
    command that an operator gave, or what they did at ``/operator``. ``before`` and ``after`` are plain JSON and never
    hold a secret. What an operator did to an organization stands in the service's log too, once it is committed.
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
    if actor.kind == ActorKind.OPERATOR and organization_id is not None:
        facts = {"action": action, "organization_id": organization_id, "subject": subject, "facts": entry.after}
        transaction.on_commit(partial(_log.info, "operator", operator=actor.email, **facts))
    return entry


def note_export(organization_id: int, actor: Actor, asked: dict[str, str]) -> None:
    """Note that requests were exported, and by which filters. Words that were searched may be a name, which could never
    be erased here, so the entry says no more than that there were some."""
    searched = {"q": "…"} if "q" in asked else {}
    with transaction.atomic():
        note(organization_id, actor, Action.REQUESTS_EXPORTED, after=asked | searched)
