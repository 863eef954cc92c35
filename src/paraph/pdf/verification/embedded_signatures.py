"""The signatures of a PDF and what its bytes tell of each, before any cryptography is checked."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.report import Coverage
from paraph.pdf.structure.objects import Unsafe
from paraph.pdf.structure.signed_fields import SignedField
from paraph.pdf.verification.appended.history import History, only_blanks
from paraph.pdf.verification.revisions import Revisions

_MAX_SIGNATURES = 200
_HEXADECIMAL = (frozenset(b"0123456789abcdef"), frozenset(b"0123456789ABCDEF"))


class NotVerifiable(ValueError):
    """The file cannot be verified at all; the message is one sentence."""


class EmbeddedSignature:
    """One signature: its bytes, what it covers, and what came after it.

    ``fault`` is the reason why it cannot be judged at all, empty where it can. ``removed``: the file had it in an
    earlier revision and no longer lists it.
    """

    def __init__(self, pdf: bytes, field: SignedField, revisions: Revisions, *, removed: bool = False) -> None:
        self.removed = removed
        self.field_name = field.name
        self.is_document_timestamp = field.is_document_timestamp
        self.sub_filter = field.sub_filter
        self.contents = field.contents
        self.claimed_at: datetime | None = field.claimed_at
        self.fault = field.fault
        self.field = field
        self._pdf = pdf
        self._revisions = revisions

    @property
    def label(self) -> str:
        """The name of the field, for sentences."""
        return self.field_name or "without a name"

    def digest(self, algorithm: str) -> bytes:
        """Return the digest of the covered bytes, for the :mod:`hashlib` name of a hash."""
        view, hash_ = memoryview(self._pdf), hashlib.new(algorithm)
        for start, size in zip(self.field.byte_range[::2], self.field.byte_range[1::2], strict=True):
            hash_.update(view[start : start + size])
        return hash_.digest()

    def coverage(self) -> Coverage:
        """Return what the signature covers; ``unclear`` unless it leaves out exactly its own value."""
        if self.fault or not self._gap_is_the_value():
            return "unclear"
        if only_blanks(self._pdf, self.field.end):
            return "whole file"
        return "its revision" if self._revisions.ends_with(self.field) else "unclear"

    def _gap_is_the_value(self) -> bool:
        """Whether the byte range is ``[0 a b c]`` within the file, with ``<value>`` in hexadecimal digits of one case
        from ``a`` to ``b``."""
        start, before, after, rest = self.field.byte_range
        if start != 0 or not 0 < before < after or rest < 0 or after + rest > len(self._pdf):
            return False
        gap = self._pdf[before:after]
        digits = gap[1:-1]
        if gap[:1] != b"<" or gap[-1:] != b">" or len(digits) % 2:
            return False
        return any(allowed.issuperset(digits) for allowed in _HEXADECIMAL) and bytes.fromhex(digits.decode()) == (
            self.contents
        )


class SignedFile:
    """A PDF opened for its signatures, in the order of its revisions. ``findings``: a sentence for each part of the
    file that cannot be judged."""

    def __init__(self, pdf: bytes) -> None:
        """Open the file. Raises :class:`NotVerifiable`."""
        self.pdf = pdf
        self._revisions = _opened(pdf)
        fields, self.findings = self._revisions.fields, list[str]()
        if len(fields) > _MAX_SIGNATURES:
            self.findings.append(f"Of its {len(fields)} signatures the newest {_MAX_SIGNATURES} were looked at.")
        self.signatures = [EmbeddedSignature(pdf, field, self._revisions) for field in fields[-_MAX_SIGNATURES:]]
        for field in self._removed():
            position = sum(1 for each in self.signatures if each.fault or each.field.end < field.end)
            self.signatures.insert(position, EmbeddedSignature(pdf, field, self._revisions, removed=True))
        self._stored = self._revisions.stored()
        if self._stored.incomplete:
            self.findings.append("Some of the long-term validation data in the file cannot be read.")

    def _removed(self) -> list[SignedField]:
        try:
            return self._revisions.removed()
        except Unsafe as error:
            raise NotVerifiable(f"The file cannot be verified: {error}.") from error

    def history(self, trusted: Iterable[EmbeddedSignature]) -> History:
        """Return what judges the updates of the file, given the signatures and timestamps that are trusted."""
        fields = {embedded.field.end: embedded.field for embedded in trusted}
        return History(self.pdf, self._revisions.reader_until, fields)

    def objections(self, embedded: EmbeddedSignature) -> str:
        """Return why the file may have been altered after a signature that is not trusted; empty for no reason."""
        return self._revisions.second_opinion.objections(embedded.field)

    def long_term_data(self, embedded: EmbeddedSignature | None = None) -> LongTermData:
        """Return the document security store, as it is now, or as it was at a signature that covers its revision;
        empty where there is none."""
        return self._stored.data if embedded is None else self._revisions.stored(embedded.field).data


def _opened(pdf: bytes) -> Revisions:
    try:
        return Revisions(pdf)
    except SealError as error:
        raise NotVerifiable("The file is encrypted and cannot be read without its password.") from error
    except Unsafe as error:
        raise NotVerifiable(f"The file cannot be read as a PDF with signatures: {error}.") from error
    except MemoryError:
        raise  # the sandbox tells that the file takes too much
    except Exception as error:
        sentence = f"The file cannot be read as a PDF with signatures ({type(error).__name__})."
        raise NotVerifiable(sentence) from error
