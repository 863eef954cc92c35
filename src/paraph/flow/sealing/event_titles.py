"""What the proof calls the events of the journal: the typesetting knows no event of its own."""

from collections.abc import Mapping

from paraph.journal.event_types import EventType

EVENT_TITLES: Mapping[str, str] = {
    EventType.CREATED: "Request created",
    EventType.IDENTITY_DECLARED: "Identity of the signers declared by the sender",
    EventType.SIGNER_NOTIFIED: "Invitation sent",
    EventType.OTP_SENT: "One-time code sent",
    EventType.SIGNED: "Signed",
    EventType.COMPLETED: "Request completed: everyone has signed",
    EventType.COMPLETION_NOTIFIED: "Summary of completion sent",
    EventType.EXPIRED: "Request expired",
    EventType.PADES_SIGNED: "PAdES seal applied to a document",
    EventType.CERTIFICATE_ISSUED: "Proof file issued and sealed",
}
"""Titles in English, the one language of the proof so far, by the event's name."""

SENDER_EVENTS: frozenset[str] = frozenset({EventType.CREATED, EventType.IDENTITY_DECLARED})
"""Events that the proof attributes to the organization; others without a signer are the service's."""
