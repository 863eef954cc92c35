"""What can be noted in the activity log."""

from enum import StrEnum


class Action(StrEnum):
    """Named ``subject.verb``, in the past tense. A released name never changes: exports hold it."""

    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_UPDATED = "organization.updated"
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
    SIGNER_ERASED = "signer.erased"
    REQUEST_SENT = "request.sent"
    SIGNER_REMINDED = "signer.reminded"
    TEMPLATE_SAVED = "template.saved"
    TEMPLATE_DELETED = "template.deleted"
    BULK_SEND_STARTED = "bulk_send.started"
    BULK_SEND_CANCELLED = "bulk_send.cancelled"
