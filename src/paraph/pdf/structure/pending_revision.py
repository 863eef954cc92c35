"""A file with a revision that is written but not joined to it yet, as the next revision sees it.

Joining large files costs more than anything else that a seal does, so it is done once, at the end.
"""

from typing import Any

from paraph.pdf.structure.crossreference import CrossReferenceEntry, CrossReferenceSection
from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision, WrittenRevision


class PendingRevision(PdfReader):
    """Reads the objects as the revision leaves them. What is written from it is what would be written from the joined
    file."""

    def __init__(self, revision: Revision, written: WrittenRevision) -> None:
        before = revision.reader
        self.text = written.text
        self.trailer = written.trailer
        self.encryption = before.encryption
        self.crossreference = _Next(before.crossreference.sections[0], written)
        self._revision = revision
        self._size = before.size + len(written.text)

    @property
    def size(self) -> int:
        """Bytes of the file with the revision."""
        return self._size

    @property
    def ends_line(self) -> bool:
        """A revision does."""
        return True

    def text_of(self, ref: Ref) -> bytes:
        """Not at hand."""
        del ref
        return b""

    def object(self, ref: Ref) -> Any:
        """The object as the revision leaves it."""
        return self._revision.resolve(ref)


class _Next:
    """The cross-reference of the revision: of the kind that the one before it is."""

    def __init__(self, before: CrossReferenceSection, written: WrittenRevision) -> None:
        self.start: int | None = written.start
        self.trailer: Dictionary = written.trailer
        self.carried: dict[int, CrossReferenceEntry] = {}
        self.sections = [CrossReferenceSection([], written.trailer, widths=before.widths)]
        self.next_number = int(written.trailer[b"/Size"])

    def start_within(self, size: int) -> int | None:
        """There is none before it is written."""
        del size
        return None

    def entry(self, number: int) -> CrossReferenceEntry | None:
        """Nowhere in a file yet: objects come from the revision."""
        del number
        return None
