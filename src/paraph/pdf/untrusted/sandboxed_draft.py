"""Drafts of seals for untrusted files, which are read in sandboxed processes only.

Each step borrows a process and returns it, so a slow timestamp authority delays no other seal. State that a later step
needs travels with the messages. The file lies in memory that each process maps.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, BinaryIO, get_args

from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import PdfRefused, SealError
from paraph.pdf.sealing.draft import SealContent, SealDraft
from paraph.pdf.sealing.self_check import ExpectedSeal
from paraph.pdf.structure.normalise import Method, UnreadablePdf
from paraph.pdf.structure.objects import Unsafe
from paraph.pdf.structure.revision import WrittenRevision
from paraph.pdf.untrusted.sandbox import sandbox
from paraph.pdf.untrusted.sandbox_wire import memory_file, to_plain

_PATIENCE = 4
_RAISED: dict[str, type[Exception]] = {"SealError": SealError, "Unsafe": Unsafe, "UnreadablePdf": UnreadablePdf}


def sandboxed_drafts(pdf: bytes, wanted: SealContent) -> Iterator[SealDraft]:
    """Yield a draft of each variant, as :func:`paraph.pdf.sealing.draft.drafts_in_process` does. A step
    raises ``SealError`` if a process is lost because of the file, else
    :class:`~paraph.pdf.refusal.ReadersUnavailable`."""
    for method in get_args(Method):
        with memory_file() as file:
            yield SandboxedDraft(pdf, method, wanted, file)


class SandboxedDraft:
    """A :class:`~paraph.pdf.sealing.draft.SealDraft`. ``file`` holds the variant and what was appended so far."""

    def __init__(self, pdf: bytes, method: Method, wanted: SealContent, file: BinaryIO) -> None:
        self.pdf, self.method = pdf, method
        self._upload = pdf
        self._wanted = wanted
        self._file = file
        self._known: dict[str, Any] = {}

    def seal_revision(self, data: LongTermData, hole: int) -> WrittenRevision:
        self._hold(0, self._upload)
        wanted = {"method": self.method, "wanted": to_plain(self._wanted), "data": to_plain(data), "hole": hole}
        answer, content = self._ask("seal", **wanted)
        if answer["variant"]:
            self.pdf, content = content[: answer["variant"]], content[answer["variant"] :]
            self._hold(0, self.pdf)
        self._known = answer["known"]
        return _holed(answer, content)

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> WrittenRevision:
        self._hold(len(self.pdf), sealed)
        return _holed(*self._ask("archive", known=self._known, data=to_plain(missing), hole=hole))

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: ExpectedSeal) -> None:
        del original_hash  # the process hashes the variant itself
        with memoryview(content) as whole:
            self._hold(len(self.pdf), whole[len(self.pdf) :])
        self._ask("check", known=self._known, size=len(self.pdf), expected=to_plain(expected))

    def _hold(self, place: int, data: bytes | bytearray | memoryview) -> None:
        self._file.seek(place)
        self._file.truncate()
        self._file.write(data)

    def _ask(self, step: str, **arguments: Any) -> tuple[dict[str, Any], bytes]:
        try:
            answer, content = sandbox().call(f"sealing_{step}", self._file, patience=_PATIENCE, **arguments)
        except PdfRefused as refused:
            raise SealError(f"The PDF cannot be sealed: {refused.message}") from refused
        if "raised" in answer:
            kind, message = answer["raised"]
            raise _RAISED[kind](message)
        return answer, content


def _holed(answer: dict[str, Any], content: bytes) -> WrittenRevision:
    """Return the revision. The process is trusted only to have sent some text with some hole in it."""
    start, end = answer["hole"]
    if not 0 <= start < end <= len(content):
        raise SealError("The revision of the seal has no room for its signature.")
    return WrittenRevision(bytearray(content), start, end)
