"""What the proof calls the events of the journal: the typesetting knows no event of its own."""

from collections.abc import Mapping
from typing import Any

from paraph import words as catalog
from paraph.audit_trail.event_types import EventType

SENDER_EVENTS: frozenset[str] = frozenset({EventType.CREATED, EventType.IDENTITY_DECLARED})
"""Events that the proof attributes to the organization; others without a signer are the service's."""


def event_titles(locale: str) -> Mapping[str, str]:
    """Returns the titles in the language of a request, by the event's name."""
    words = catalog.of("proof", locale)
    return {event: words[f"event_{event.name.lower()}"] for event in EventType}


def own_title(event_type: str, metadata: Mapping[str, Any], locale: str) -> str:
    """Returns the title of an event that its name does not tell: of a reminder. "" for any other."""
    reminded = event_type == EventType.SIGNER_NOTIFIED and metadata.get("reminder") is True
    return str(catalog.of("proof", locale)["event_reminded"]) if reminded else ""
