"""The words of the proof: what a language has to bring. English is the one so far (proof_english)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paraph.pdf.typesetting.proof import ProofContent

SENDERS_EVENTS = frozenset({"signature_request.created", "signature_request.identity_declared"})


@dataclass(frozen=True)
class ProofWords:
    """Labels, names and sentences of one language; what is not in a table is shown as it stands in the journal."""

    language: str  # BCP 47
    title: str
    events: Mapping[str, str]
    metadata: Mapping[str, str]
    channels: Mapping[str, str]
    modes: Mapping[str, str]
    labels: Mapping[str, str]
    no_timestamp: str
    transliterated: str
    verdict: Callable[["ProofContent"], str]
    remarks: Callable[[Mapping[str, Any]], str]  # of a document that can look different than on the signer's page
    prepared: Callable[[Mapping[str, Any]], str]  # of a document that can look different than on the signer's page
    steps: Sequence[tuple[str, str]]  # how to verify: a sentence and a command

    def event(self, event_type: str) -> str:
        return self.events.get(event_type, event_type)

    def key(self, name: str) -> str:
        return self.metadata.get(name, name.replace("_", " "))


def milliseconds(at: datetime) -> str:
    """``2026-11-21 14:05:09.123 UTC``"""
    moment = at.astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC"
