"""The updates after a signature, one by one, up to the end of the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signed_fields import SignedField
from paraph.pdf.verification.appended.additions import Additions, check_additions
from paraph.pdf.verification.appended.refused import NotPermitted
from paraph.pdf.verification.appended.revision import read_revision

_MOST_BLANKS = 256
"""White space that may follow the last update; readers look for its end within the last kilobyte."""
_BLANKS = b"\t\n\x0c\r "


@dataclass(frozen=True)
class Refusal:
    """``start``: the first byte of what must not be there; ``reason``: the rest of a sentence."""

    start: int
    reason: str


@dataclass(frozen=True)
class Appended:
    """What follows a signature: what each update added, and why the next one is refused, if one is."""

    additions: tuple[Additions, ...]
    refusal: Refusal | None


class History:
    """Judge the updates of one file. ``trusted``: the trusted signatures and document timestamps, by where the bytes
    that they cover end; ``read_until``: a reader of the file up to a byte."""

    def __init__(
        self, pdf: bytes, read_until: Callable[[int], PdfReader | None], trusted: Mapping[int, SignedField]
    ) -> None:
        self._pdf = pdf
        self._read_until = read_until
        self._trusted = trusted
        self._judged: dict[int, tuple[int, Additions] | Refusal] = {}

    def after(self, end: int) -> Appended:
        """Return what follows byte ``end``, where a signature ends."""
        additions: list[Additions] = []
        while not only_blanks(self._pdf, end):
            if end not in self._judged:
                self._judged[end] = self._judge(end)
            judged = self._judged[end]
            if isinstance(judged, Refusal):
                return Appended(tuple(additions), judged)
            end, added = judged
            additions.append(added)
        return Appended(tuple(additions), None)

    def _judge(self, start: int) -> tuple[int, Additions] | Refusal:
        before = self._read_until(start)
        if before is None:
            return Refusal(start, "the file before cannot be read")
        try:
            revision = read_revision(before, self._pdf)
            return revision.end, check_additions(before, revision, self._trusted.get(revision.end))
        except NotPermitted as error:
            return Refusal(start, str(error))


def only_blanks(pdf: bytes, end: int) -> bool:
    """Whether nothing but a little white space follows byte ``end``."""
    return len(pdf) - end <= _MOST_BLANKS and not pdf[end:].strip(_BLANKS)
