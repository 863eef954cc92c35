"""A reader of a file and a revision written for it but not yet appended, as the next revision sees them.

Copying a large file is the most expensive step of a seal, so the parts are joined once, at the end.
"""

from typing import Any

from paraph.pdf.structure.crossreference import CrossReferenceEntry, CrossReferenceSection
from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision, WrittenRevision


class PendingRevision(PdfReader):
    """Reads objects as the revision leaves them; a revision written from it equals one written from the joined file."""

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
        return self._size

    @property
    def ends_line(self) -> bool:
        return True

    def text_of(self, ref: Ref) -> bytes:
        """Return nothing: the text is not available."""
        del ref
        return b""

    def object(self, ref: Ref) -> Any:
        return self._revision.resolve(ref)


class _Next:
    """The cross-reference of the revision, of the same kind as the section before it."""

    def __init__(self, before: CrossReferenceSection, written: WrittenRevision) -> None:
        self.start: int | None = written.start
        self.trailer: Dictionary = written.trailer
        self.carried: dict[int, CrossReferenceEntry] = {}
        self.sections = [CrossReferenceSection([], written.trailer, widths=before.widths)]
        self.next_number = int(written.trailer[b"/Size"])

    def start_within(self, size: int) -> int | None:
        """Return ``None``: nothing is written yet."""
        del size
        return None

    def entry(self, number: int) -> CrossReferenceEntry | None:
        """Return ``None``: objects come from the revision."""
        del number
        return None
