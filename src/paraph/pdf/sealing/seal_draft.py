"""The interface between sealing and the file: reading it, appending revisions, checking the result.

An untrusted file is parsed behind this interface alone, where no key is: in this process
(:mod:`paraph.pdf.sealing.draft_in_process`) or in a sandboxed one (:mod:`paraph.pdf.untrusted.sandboxed_draft`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.structure.normalise import Method


@dataclass(frozen=True)
class SealContent:
    """What the revision of a seal shows and states. ``appearances``: a PDF with the pictures of marks and overlay.
    ``clean_contents``: see :func:`paraph.pdf.sealing.seal.seal`."""

    appearances: bytes
    marks: Sequence[Mark]
    page_overlay: Overlay | None
    reason: str
    name: str
    at: datetime
    clean_contents: bool = False


class UnsignedRevision(NamedTuple):
    """The bytes of a revision, with a hole from ``start`` to ``end`` for the value of a signature and its angle
    brackets. The signature covers the file before it and all but the hole."""

    text: bytearray
    start: int
    end: int

    def hashed_after(self, before: "hashlib._Hash") -> "hashlib._Hash":
        """Return the hash over the file, whose state is ``before``, and all but the hole."""
        document = before.copy()
        with memoryview(self.text) as text:
            document.update(text[: self.start])
            document.update(text[self.end :])
        return document

    def has_room_for(self, value: bytes) -> bool:
        """Return whether a value, in hexadecimal digits, fits into the hole."""
        return len(value) <= self.end - self.start - 2

    def fill(self, value: bytes) -> None:
        """Write the value, in hexadecimal digits, into the hole."""
        self.text[self.start + 1 : self.start + 1 + len(value)] = value


@dataclass(frozen=True)
class ExpectedSeal:
    """What the finished file must contain: see :func:`paraph.pdf.sealing.self_check.check_appended`."""

    certificates: Sequence[bytes]
    purpose: Purpose
    token: bytes
    sealed_size: int
    archive_token: bytes
    statuses: LongTermData


class SealDraft(Protocol):
    """One form of a file while it is sealed: steps in their order, which may raise ``SealError`` and ``Unsafe``."""

    @property
    def method(self) -> Method:
        """How the form was made from the file."""

    @property
    def pdf(self) -> bytes:
        """The form, with which the sealed file begins. Known after :meth:`seal_revision`."""

    def seal_revision(self, data: LongTermData, hole: int) -> UnsignedRevision:
        """Write the revision of the seal, with ``data`` and room for a value of ``hole`` bytes. Repeatable."""

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> UnsignedRevision:
        """Write the revision of an archive timestamp after ``sealed``, the signed revision of the seal."""

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: ExpectedSeal) -> None:
        """Read the finished file again. Raises ``SealError`` unless it contains what it must. ``original_hash``: the
        SHA-256 state after the form."""
