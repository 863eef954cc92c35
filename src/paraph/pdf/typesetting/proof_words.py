"""The words that a language of the proof consists of. English is the only one so far (proof_english)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paraph.pdf.typesetting.proof_content import ProofContent


@dataclass(frozen=True)
class ProofWords:
    """Labels, names and sentences of one language. A key without an entry in ``metadata``, ``channels`` or ``modes`` is
    shown as it is in the journal."""

    language: str  # BCP 47
    title: str
    metadata: Mapping[str, str]
    channels: Mapping[str, str]
    modes: Mapping[str, str]
    values: Mapping[str, Callable[[str], str]]
    """Says a metadata value in plain words, by its key."""
    labels: Mapping[str, str]
    no_timestamp: str
    transliterated: str
    verdict: Callable[[ProofContent], str]
    remarks: Callable[[Mapping[str, Any]], str]
    """Writes the journal's note on a document that can look different than on the signer's page."""
    prepared: Callable[[Mapping[str, Any]], str]
    """Writes the journal's note on a document that could not be sealed as it was uploaded."""
    steps: Sequence[tuple[str, str]]
    """How to verify: a sentence and a command for each step."""

    def key(self, name: str) -> str:
        """Returns the label of a metadata key."""
        return self.metadata.get(name, name.replace("_", " "))


def milliseconds(at: datetime) -> str:
    """Writes a time as ``2026-11-21 14:05:09.123 UTC``."""
    return f"{day(at)} {time_of_day(at)} UTC"


def day(at: datetime) -> str:
    """Writes a day as ``2026-11-21``, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def time_of_day(at: datetime) -> str:
    """Writes a time as ``14:05:09.123``, in UTC."""
    moment = at.astimezone(UTC)
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"
