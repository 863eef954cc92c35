"""The revisions of a file as pyHanko reads them: for files that paraph's reader refuses, and to compare revisions."""

import logging
from io import BytesIO
from typing import Any

from pyhanko.pdf_utils.crypt import AuthStatus
from pyhanko.pdf_utils.generic import IndirectObject
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import DiffResult, ModificationLevel
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation.pdf_embedded import EmbeddedPdfSignature
from pyhanko.sign.validation.status import SignatureCoverageLevel

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.signed_fields import SignedField, date_of, printable
from paraph.pdf.verification.diff_policy import POLICY
from paraph.pdf.verification.stored_validation_data import StoredData

logging.getLogger("pyhanko").setLevel(logging.CRITICAL)  # the findings tell what it would log of hostile files

_STORE = ("/Certs", "/CRLs", "/OCSPs")


class PasswordNeeded(ValueError):
    """The file needs a password."""


class RevisionsByPyHanko:
    """Implements :class:`~paraph.pdf.verification.revisions.Revisions`."""

    def __init__(self, pdf: bytes) -> None:
        """Raises :class:`PasswordNeeded`, and whatever pyHanko raises for a broken file."""
        self._reader = PdfFileReader(BytesIO(pdf), strict=False)
        if self._reader.encrypted and self._reader.decrypt("").status is AuthStatus.FAILED:
            raise PasswordNeeded
        self._signatures: dict[SignedField, EmbeddedPdfSignature] = {}
        found = enumerate_sig_fields(self._reader, filled_status=True)
        self.fields = sorted((self._field(*each) for each in found), key=lambda field: field.rank)

    @property
    def start(self) -> int | None:
        """The position of the newest cross-reference."""
        return self._reader.last_startxref

    def ends_with(self, field: SignedField) -> bool:
        """Whether pyHanko finds that the signature covers its whole revision."""
        signature = self._signatures[field]
        level = signature.evaluate_signature_coverage()
        signature.coverage = level  # type: ignore[assignment]  # pyHanko annotates only the None of its start
        return level is SignatureCoverageLevel.ENTIRE_REVISION

    def followed(self, field: SignedField) -> bool:
        """Whether a revision came after that of the signature."""
        return field.order < int(self._reader.xrefs.total_revisions) - 1

    def archived(self, field: SignedField, archive: SignedField) -> bool:
        """Always false: without paraph's reader the archive timestamp cannot be written once more."""
        del field, archive
        return False

    def stored(self, field: SignedField | None = None) -> StoredData:
        """Returns the store with what can be read of it."""
        try:
            root = self._reader.root if field is None else self._reader.get_historical_root(field.order)
            if "/DSS" not in root:
                return StoredData(LongTermData(), incomplete=False)
            store = root["/DSS"]  # follows references, as get() does not
            lists = [[_content(item) for item in store[key]] if key in store else [] for key in _STORE]
        except Exception:  # noqa: BLE001 — a hostile store makes the reader raise anything
            return StoredData(LongTermData(), incomplete=True)
        data = LongTermData(*(tuple(content for content in listed if content) for listed in lists))
        return StoredData(data, not all(content for listed in lists for content in listed))

    def appended(self, field: SignedField) -> tuple[ModificationLevel, set[str]] | None:
        """Compares by :data:`~paraph.pdf.verification.diff_policy.POLICY`. A revision on which the comparison fails
        counts as the strongest change."""
        if field not in self._signatures:
            return None
        try:
            if not self.ends_with(field):
                return None
            result = self._signatures[field].evaluate_modifications(POLICY)
        except Exception:  # noqa: BLE001 — a hostile revision makes the comparison raise anything
            return ModificationLevel.OTHER, set()
        if isinstance(result, DiffResult):
            return result.modification_level, set(result.changed_form_fields)
        return ModificationLevel.OTHER, set()

    def _field(self, name: str, value: Any, reference: Any) -> SignedField:
        name = printable(str(name))
        try:
            signature = EmbeddedPdfSignature(self._reader, reference, name)
            field = _field_of(name, signature)
        except Exception:  # noqa: BLE001 — a hostile signature makes the reader raise anything
            kind = _attempt(lambda: value.get_object().get("/Type"))
            return SignedField(name, self._order(reference), "its value is damaged", kind == "/DocTimeStamp")
        self._signatures[field] = signature
        return field

    def _order(self, reference: Any) -> int:
        """Returns the revision of a broken signature: the newest in which its field or value was written."""
        parts = [reference, _attempt(lambda: reference.get_object().raw_get("/V"))]
        changed = [
            _attempt(lambda part=part: self._reader.xrefs.get_last_change(part.reference))
            for part in parts
            if isinstance(part, IndirectObject)
        ]
        newest: int = self._reader.xrefs.total_revisions
        return max((order if isinstance(order, int) else newest for order in changed), default=newest)


def _attempt(read: Any) -> Any:
    try:
        return read()
    except Exception:  # noqa: BLE001 — a hostile object makes the reader raise anything
        return None


def _field_of(name: str, signature: EmbeddedPdfSignature) -> SignedField:
    byte_range = tuple(int(number) for number in signature.byte_range)
    if len(byte_range) != 4:
        raise ValueError("four numbers belong here")
    return SignedField(
        name=name,
        order=int(signature.signed_revision),
        is_document_timestamp=signature.sig_object_type == "/DocTimeStamp",
        sub_filter=printable(str(signature.sig_object.get("/SubFilter", ""))),
        byte_range=byte_range,
        contents=bytes(signature.pkcs7_content),
        claimed_at=date_of(str(signature.sig_object.get("/M", ""))),
        shows=_shows(signature),
    )


def _shows(signature: EmbeddedPdfSignature) -> bool:
    """Whether the signature draws on a page; true where its widgets cannot be read."""
    try:
        field = signature.sig_field
        widgets = [kid.get_object() for kid in field["/Kids"]] if "/Kids" in field else [field]
        return any("/AP" in widget for widget in widgets)
    except Exception:  # noqa: BLE001 — a hostile field makes the reader raise anything
        return True


def _content(item: Any) -> bytes:
    """Returns the decoded stream, empty where it cannot be read."""
    content = _attempt(lambda: bytes(item.get_object().data))
    return content if isinstance(content, bytes) else b""
