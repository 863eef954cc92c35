"""What can be noted in the activity log."""

from enum import StrEnum


class Action(StrEnum):
    """Named ``subject.verb``, in the past tense. A released name never changes: exports hold it."""

    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_UPDATED = "organization.updated"
    MEMBER_JOINED = "member.joined"
    APPLICATION_CREATED = "application.created"
    REQUEST_SENT = "request.sent"
    SIGNER_REMINDED = "signer.reminded"
