"""The activity log: what members and operators did with an organization, in a table that only grows."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from django.db import transaction
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy

from paraph.tenants.models import Activity, ActorKind

_log = structlog.get_logger("paraph.operator")


class Action(TextChoices):
    """Named ``subject.verb``, in the past tense. A released name never changes: entries hold it. The label is what the
    dashboard shows."""

    ORGANIZATION_CREATED = "organization.created", gettext_lazy("Organization created")
    ORGANIZATION_UPDATED = "organization.updated", gettext_lazy("Organization changed")
    MEMBER_INVITED = "member.invited", gettext_lazy("Member invited")
    INVITATION_RESENT = "invitation.resent", gettext_lazy("Invitation sent again")
    INVITATION_WITHDRAWN = "invitation.withdrawn", gettext_lazy("Invitation withdrawn")
    MEMBER_JOINED = "member.joined", gettext_lazy("Member joined")
    MEMBER_ROLE_CHANGED = "member.role_changed", gettext_lazy("Role changed")
    MEMBER_REMOVED = "member.removed", gettext_lazy("Member removed")
    MEMBER_LEFT = "member.left", gettext_lazy("Member left")
    APPLICATION_CREATED = "application.created", gettext_lazy("Application created")
    APPLICATION_UPDATED = "application.updated", gettext_lazy("Application changed")
    APPLICATION_REVOKED = "application.revoked", gettext_lazy("Application revoked")
    APPLICATION_ROTATED = "application.rotated", gettext_lazy("Key and secret replaced")
    KEY_REVOKED = "key.revoked", gettext_lazy("Key revoked")
    ORGANIZATION_SUSPENDED = "organization.suspended", gettext_lazy("Organization suspended")
    ORGANIZATION_RESUMED = "organization.resumed", gettext_lazy("Organization resumed")
    ORGANIZATION_DELETED = "organization.deleted", gettext_lazy("Organization deleted")
    REQUEST_ENDED_EARLY = "request.ended_early", gettext_lazy("Request withdrawn")
    RETENTION_SET = "retention.set", gettext_lazy("Retention changed")
    PEOPLE_FORGOTTEN = "people.forgotten", gettext_lazy("People of ended requests forgotten")
    SIGNER_ERASED = "signer.erased", gettext_lazy("Signer erased")
    ADDRESS_ERASED = "address.erased", gettext_lazy("Address erased")
    REQUEST_SENT = "request.sent", gettext_lazy("Request sent")
    REQUEST_EXTENDED = "request.extended", gettext_lazy("More time to sign")
    REQUEST_REWORDED = "request.reworded", gettext_lazy("Message of a request changed")
    SIGNER_CORRECTED = "signer.corrected", gettext_lazy("Signer corrected")
    SIGNER_REMINDED = "signer.reminded", gettext_lazy("Signer reminded")
    DELIVERY_SENT_AGAIN = "delivery.sent_again", gettext_lazy("Webhook sent again")
    WEBHOOK_TESTED = "webhook.tested", gettext_lazy("Webhook tested")
    BRANDING_CREATED = "branding.created", gettext_lazy("Branding profile created")
    BRANDING_UPDATED = "branding.updated", gettext_lazy("Branding profile changed")
    BRANDING_DELETED = "branding.deleted", gettext_lazy("Branding profile deleted")
    SIGNER_ASKED = "signer.asked", gettext_lazy("Signer wrote to you")
    SIGNER_DECLINED = "signer.declined", gettext_lazy("Signer declined")
    ACTIVITY_EXPORTED = "activity.exported", gettext_lazy("Activity log exported")
    PASSWORD_CHANGED = "account.password_changed", gettext_lazy("Password changed")
    ADDRESS_CHANGED = "account.address_changed", gettext_lazy("Address of an account changed")
    SECOND_FACTOR_ADDED = "account.second_factor_added", gettext_lazy("Second factor added")
    SECOND_FACTOR_REMOVED = "account.second_factor_removed", gettext_lazy("Second factor removed")
    REQUESTS_EXPORTED = "requests.exported", gettext_lazy("Requests exported")
    SIGNING_LINK_SHOWN = "signing_link.shown", gettext_lazy("Signing link shown")
    DOCUMENT_UPLOADED = "document.uploaded", gettext_lazy("Document uploaded")
    DOCUMENT_DELETED = "document.deleted", gettext_lazy("Document deleted")
    TEMPLATE_SAVED = "template.saved", gettext_lazy("Template saved")
    TEMPLATE_CHANGED = "template.changed", gettext_lazy("Template changed")
    TEMPLATE_DELETED = "template.deleted", gettext_lazy("Template deleted")
    BULK_SEND_STARTED = "bulk_send.started", gettext_lazy("Bulk send started")
    BULK_SEND_CANCELLED = "bulk_send.cancelled", gettext_lazy("Bulk send cancelled")
    ADDRESS_ASKED = "confirmed_address.asked", gettext_lazy("Confirmation of an address requested")
    ADDRESS_VOUCHED_FOR = "confirmed_address.vouched_for", gettext_lazy("Address confirmed by the operator")
    ADDRESS_WITHDRAWN = "confirmed_address.withdrawn", gettext_lazy("Confirmation of an address withdrawn")


@dataclass(frozen=True)
class Actor:
    """Who acts. ``id`` and ``email``: those of the account of a member or of an operator in a browser; for an
    application, ``id`` alone; for an operator who gives a command, their name in ``email``. ``ip``: the caller's."""

    kind: str
    id: int | None = None
    email: str = ""
    ip: str = ""


OPERATOR = Actor(ActorKind.OPERATOR)
SERVICE = Actor(ActorKind.SERVICE)
SIGNER = Actor(ActorKind.SIGNER)
"""A signer: the log names requests and signers by their ids alone, so that a signer can be erased."""


def note(
    organization_id: int | None,
    actor: Actor,
    action: str,
    subject: str = "",
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> Activity:
    """Append an entry to the organization's log. Call this in the transaction of the change. ``action`` is an
    :class:`Action`; without an organization, the entry is the installation's, and ``action`` is the command that an
    operator gave, or what they did at ``/operator``. ``before`` and ``after`` are plain JSON and never hold a secret.
    What an operator did to an organization is also written to the service's log, once it is committed."""
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
    """Note that requests were exported, and with which filters. Searched words may be a name, which could never be
    erased here, so the entry says only that there were some."""
    searched = {"q": "…"} if "q" in asked else {}
    with transaction.atomic():
        note(organization_id, actor, Action.REQUESTS_EXPORTED, after=asked | searched)
