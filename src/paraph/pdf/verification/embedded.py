"""The signatures of a PDF as they stand in it, and what the bytes of the file say of each. Nothing is believed yet."""

import hashlib
from datetime import datetime

from pyhanko.sign.diff_analysis import ModificationLevel

from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.report import Coverage
from paraph.pdf.structure.signed_fields import SignedField
from paraph.pdf.verification.revisions import OwnRevisions, Revisions
from paraph.pdf.verification.revisions_by_pyhanko import Locked, RevisionsByPyHanko

_MOST_SIGNATURES = 200
_HEXADECIMAL = (frozenset(b"0123456789abcdef"), frozenset(b"0123456789ABCDEF"))


class Unreadable(ValueError):
    """The file cannot be verified at all; the message is one sentence."""


class Embedded:
    """One signature: where it stands, what its bytes are, what it covers, what came after it.

    ``fault`` tells why it cannot be judged at all, and is empty where it can.
    """

    def __init__(self, pdf: bytes, field: SignedField, revisions: Revisions) -> None:
        self.field_name = field.name
        self.is_document_timestamp = field.is_document_timestamp
        self.sub_filter = field.sub_filter
        self.contents = field.contents
        self.claimed_at: datetime | None = field.claimed_at
        self.fault = field.fault
        self.shows = field.shows
        self.field = field
        self._pdf = pdf
        self._revisions = revisions

    @property
    def label(self) -> str:
        """The name of its field in a sentence."""
        return self.field_name or "without a name"

    def is_followed_by(self, archive: "Embedded") -> bool:
        """Whether nothing came after it but that archive timestamp. Both must cover their revision."""
        return archive.field.end == len(self._pdf) and self._revisions.archived(self.field, archive.field)

    def is_last(self) -> bool:
        """Whether no revision came after the one that it covers."""
        return not self._revisions.followed(self.field)

    def digest(self, algorithm: str) -> bytes:
        """The digest of the covered bytes, for the name of a hash."""
        view, hash_ = memoryview(self._pdf), hashlib.new(algorithm)
        for start, size in zip(self.field.byte_range[::2], self.field.byte_range[1::2], strict=True):
            hash_.update(view[start : start + size])
        return hash_.digest()

    def coverage(self) -> Coverage:
        """What the signature covers; ``unclear`` unless the only gap is exactly its own value."""
        if self.fault or not self._gap_is_the_value():
            return "unclear"
        if self.field.end == len(self._pdf):
            return "whole file"
        return "its revision" if self._revisions.ends_with(self.field) else "unclear"

    def appended(self) -> tuple[ModificationLevel, set[str]] | None:
        """The strongest kind of change after the signature's revision, and the form fields that it touched; ``None``
        where nobody can compare them."""
        return self._revisions.appended(self.field)

    def _gap_is_the_value(self) -> bool:
        """``[0 a b c]``, with ``<value>`` in hexadecimal of one case from ``a`` to ``b``, and nothing past the end."""
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
    """A PDF opened for its signatures, which are in the order of its revisions. ``findings``: a sentence for each
    part of the file that cannot be judged."""

    def __init__(self, pdf: bytes) -> None:
        """Raises :class:`Unreadable`."""
        self._revisions = _opened(pdf)
        fields, self.findings = self._revisions.fields, list[str]()
        if len(fields) > _MOST_SIGNATURES:
            self.findings.append(f"Of its {len(fields)} signatures the newest {_MOST_SIGNATURES} were looked at.")
        self.signatures = [Embedded(pdf, field, self._revisions) for field in fields[-_MOST_SIGNATURES:]]
        self._stored = self._revisions.stored()
        if self._stored.incomplete:
            self.findings.append("Some of the long-term validation data in the file cannot be read.")

    def long_term_data(self, embedded: Embedded | None = None) -> LongTermData:
        """The document security store, now or as it was with a signature that covers its revision; empty where there
        is none."""
        return self._stored.data if embedded is None else self._revisions.stored(embedded.field).data


def _opened(pdf: bytes) -> Revisions:
    """By our own reader; by pyHanko, which is more lenient, where that refuses."""
    try:
        return OwnRevisions(pdf)
    except SealError as error:
        raise Unreadable("The file is encrypted and cannot be read without its password.") from error
    except Exception:  # noqa: BLE001 — whatever it is, the other reader may read the file
        return _opened_by_pyhanko(pdf)


def _opened_by_pyhanko(pdf: bytes) -> Revisions:
    try:
        return RevisionsByPyHanko(pdf)
    except Locked as error:
        raise Unreadable("The file is encrypted and cannot be read without its password.") from error
    except Exception as error:
        sentence = f"The file cannot be read as a PDF with signatures ({type(error).__name__})."
        raise Unreadable(sentence) from error
