"""What a seal needs of the file itself: reading it, writing revisions after it, reading the result again.

All that an untrusted file can harm is behind this, and no key comes near it. It happens in this process
(:mod:`paraph.pdf.sealing.draft_here`) or in a sandboxed one (:mod:`paraph.pdf.untrusted.sandboxed_draft`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.extendable_variants import Method


@dataclass(frozen=True)
class Wanted:
    """What the revision of the seal shows and says. ``appearances``: a PDF with the pictures of marks and overlay."""

    appearances: bytes
    marks: Sequence[Mark]
    page_overlay: Overlay | None
    reason: str
    name: str
    at: datetime


class Holed(NamedTuple):
    """The text of a revision, with a hole from ``start`` to ``end`` for the value of a signature, its angle brackets
    included. Everything but the hole is to be signed, after the file."""

    text: bytearray
    start: int
    end: int

    def hashed_after(self, before: "hashlib._Hash") -> "hashlib._Hash":
        """The state ``before``, which is that after the file, with all but the hole."""
        document = before.copy()
        with memoryview(self.text) as text:
            document.update(text[: self.start])
            document.update(text[self.end :])
        return document

    def has_room_for(self, value: bytes) -> bool:
        """Whether the value, in hexadecimal digits, fits into the hole."""
        return len(value) <= self.end - self.start - 2

    def fill(self, value: bytes) -> None:
        """Writes the value, in hexadecimal digits, into the hole."""
        self.text[self.start + 1 : self.start + 1 + len(value)] = value


@dataclass(frozen=True)
class Expected:
    """What must be found in the finished file: see :func:`paraph.pdf.sealing.self_check.check`."""

    certificates: Sequence[bytes]
    purpose: Purpose
    token: bytes
    sealed_size: int
    archive_token: bytes
    statuses: LongTermData


class Draft(Protocol):
    """One form of a file on its way to a seal. Called in this order. Each may raise ``SealError`` and ``Unsafe``."""

    @property
    def method(self) -> Method:
        """How the form was made."""

    @property
    def pdf(self) -> bytes:
        """The form, once its revision is written: the beginning of the sealed file."""

    def seal_revision(self, data: LongTermData, hole: int) -> Holed:
        """The revision of the seal, with ``data`` and room for a value of ``hole`` bytes. May be asked for again."""

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> Holed:
        """The revision of an archive timestamp, behind ``sealed``: the finished text of the seal's revision."""

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: Expected) -> None:
        """Reads the finished file. Raises ``SealError`` unless it is what was to be written. ``original_hash``:
        SHA-256 of the form."""
