"""The signatures of a PDF as they stand in it. pyHanko reads the structure; nothing of it is believed yet."""

import hashlib
import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO

from pyhanko.pdf_utils.crypt import AuthStatus
from pyhanko.pdf_utils.reader import HistoricalResolver, PdfFileReader
from pyhanko.sign.diff_analysis import (
    CatalogModificationRule,
    DiffResult,
    DocInfoRule,
    DSSCompareRule,
    FormUpdatingRule,
    GenericFieldModificationRule,
    ModificationLevel,
    ObjectStreamRule,
    ReferenceUpdate,
    SigFieldCreationRule,
    SigFieldModificationRule,
    StandardDiffPolicy,
    XrefStreamRule,
)
from pyhanko.sign.validation.pdf_embedded import EmbeddedPdfSignature
from pyhanko.sign.validation.status import SignatureCoverageLevel

from paraph.pdf.archive_again import is_archive_of
from paraph.pdf.long_term import LongTermData
from paraph.pdf.verification import Coverage

logging.getLogger("pyhanko").setLevel(logging.CRITICAL)  # what it would log of hostile files stands in the findings

_MOST_SIGNATURES = 200
_HEXADECIMAL = (frozenset(b"0123456789abcdef"), frozenset(b"0123456789ABCDEF"))

_OF_THE_WRITER = {"/ModDate", "/Producer"}


class _WriterInfoRule(DocInfoRule):
    """A program that adds timestamps may name itself and the time, and leaves the other properties as they were."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterable[ReferenceUpdate]:
        if _properties(old) == _properties(new):
            yield from super().apply(old, new)


def _properties(file: HistoricalResolver) -> dict[str, str]:
    reference = file.trailer_view.get_value_as_reference("/Info", optional=True)
    information = file.get_object(reference) if reference is not None else {}
    return {str(key): str(information[key]) for key in information if key not in _OF_THE_WRITER}


_POLICY = StandardDiffPolicy(
    global_rules=[
        CatalogModificationRule(),  # type: ignore[no-untyped-call]  # pyHanko's annotations are partial
        XrefStreamRule().as_qualified(ModificationLevel.LTA_UPDATES),
        ObjectStreamRule().as_qualified(ModificationLevel.LTA_UPDATES),
        DSSCompareRule().as_qualified(ModificationLevel.LTA_UPDATES),
        _WriterInfoRule().as_qualified(ModificationLevel.LTA_UPDATES),
    ],
    form_rule=FormUpdatingRule(
        field_rules=[
            SigFieldCreationRule(),  # type: ignore[no-untyped-call]  # as above
            SigFieldModificationRule(),
            GenericFieldModificationRule(),
        ]
    ),
    ignore_orphaned_objects=False,
)
"""pyHanko's own without other document properties and orphans: a title changed after sealing is a change."""


class Unreadable(ValueError):
    """The file cannot be verified at all; the message is one sentence."""


class Embedded:
    """One signature: where it stands, what its bytes are, what it covers, what came after it."""

    def __init__(self, pdf: bytes, signature: EmbeddedPdfSignature) -> None:
        self._pdf = pdf
        self._signature = signature
        self.contents = bytes(signature.pkcs7_content)
        self.field_name = str(signature.field_name or "")
        self.is_document_timestamp = signature.sig_object_type == "/DocTimeStamp"
        self.sub_filter = str(signature.sig_object.get("/SubFilter", ""))
        self.revision = int(signature.signed_revision)
        self._range = tuple(int(number) for number in signature.byte_range)

    @property
    def claimed_at(self) -> datetime | None:
        """The signer's own clock, from the CMS or ``/M``."""
        try:
            moment = self._signature.self_reported_timestamp
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return moment.replace(tzinfo=moment.tzinfo or UTC) if moment else None

    @property
    def end(self) -> int:
        """Where its revision ends. Call :meth:`coverage` first."""
        return self._range[2] + self._range[3]

    def is_followed_by(self, archive: "Embedded") -> bool:
        """Whether nothing came after it but that archive timestamp. Call :meth:`coverage` of both first."""
        return archive.end == len(self._pdf) and is_archive_of(self._pdf, self.end, archive.contents)

    def shows(self) -> bool:
        """Whether it draws anything on a page."""
        field = self._signature.sig_field
        widgets = [kid.get_object() for kid in field["/Kids"]] if "/Kids" in field else [field]
        return any("/AP" in widget for widget in widgets)

    def digest(self, algorithm: str) -> bytes:
        """The digest of the covered bytes, for the name of a hash."""
        view, hash_ = memoryview(self._pdf), hashlib.new(algorithm)
        for start, size in zip(self._range[::2], self._range[1::2], strict=True):
            hash_.update(view[start : start + size])
        return hash_.digest()

    def coverage(self) -> Coverage:
        """What the signature covers; ``unclear`` unless the only gap is exactly its own value."""
        if not self._gap_is_the_value():
            return "unclear"
        level = self._signature.evaluate_signature_coverage()
        self._signature.coverage = level  # type: ignore[assignment]  # pyHanko annotates only the None of its start
        if level is SignatureCoverageLevel.ENTIRE_FILE:
            return "whole file"
        return "its revision" if level is SignatureCoverageLevel.ENTIRE_REVISION else "unclear"

    def appended(self) -> tuple[ModificationLevel, set[str]]:
        """The strongest kind of change after the signature's revision, and the form fields that it touched.

        What confuses the comparison counts as the strongest. Call :meth:`coverage` first.
        """
        try:
            result = self._signature.evaluate_modifications(_POLICY)
        except Exception:  # noqa: BLE001 — a hostile revision makes the comparison raise anything
            return ModificationLevel.OTHER, set()
        if isinstance(result, DiffResult):
            return result.modification_level, set(result.changed_form_fields)
        return ModificationLevel.OTHER, set()

    def _gap_is_the_value(self) -> bool:
        """``[0 a b c]``, with ``<value>`` in hexadecimal of one case from ``a`` to ``b``, and nothing past the end."""
        if len(self._range) != 4:
            return False
        start, before, after, rest = self._range
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
    """A PDF opened for its signatures."""

    def __init__(self, pdf: bytes) -> None:
        """Raises :class:`Unreadable` where a password is missing, and whatever pyHanko raises for a broken file."""
        self._reader = PdfFileReader(BytesIO(pdf), strict=False)
        if self._reader.encrypted and self._reader.decrypt("").status is AuthStatus.FAILED:
            raise Unreadable("The file is encrypted and cannot be read without its password.")
        found = self._reader.embedded_signatures
        if len(found) > _MOST_SIGNATURES:
            raise Unreadable(f"The file has {len(found)} signatures, more than {_MOST_SIGNATURES}.")
        self.signatures = [Embedded(pdf, signature) for signature in found]
        self.revisions: int = self._reader.xrefs.total_revisions

    def long_term_data(self, revision: int | None = None) -> LongTermData:
        """The document security store, now or as it was in a revision; empty where there is none."""
        root = self._reader.root if revision is None else self._reader.get_historical_root(revision)
        if "/DSS" not in root:
            return LongTermData()
        store = root["/DSS"]  # unlike get(), this follows references
        listed = ([item.get_object() for item in store[key]] if key in store else [] for key in _STORE)
        return LongTermData(*(tuple(bytes(stream.data) for stream in streams) for streams in listed))


_STORE = ("/Certs", "/CRLs", "/OCSPs")
