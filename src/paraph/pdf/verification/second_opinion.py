"""What pyHanko thinks of the changes after a signature that is not trusted, such as one that an upload brought along.

It reads leniently, so that its word clears nobody: what follows a trusted seal is judged by
:mod:`paraph.pdf.verification.appended`.
"""

import logging
from io import BytesIO

from pyhanko.pdf_utils.crypt import AuthStatus
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import DiffResult, ModificationLevel
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation.pdf_embedded import EmbeddedPdfSignature
from pyhanko.sign.validation.status import SignatureCoverageLevel

from paraph.pdf.structure.signed_fields import SignedField
from paraph.pdf.verification.diff_policy import POLICY

logging.getLogger("pyhanko").setLevel(logging.CRITICAL)  # the findings tell what it would log of hostile files

_HARMLESS = (ModificationLevel.NONE, ModificationLevel.LTA_UPDATES, ModificationLevel.FORM_FILLING)


class SecondOpinion:
    """Compare revisions of one file by :data:`~paraph.pdf.verification.diff_policy.POLICY`."""

    def __init__(self, pdf: bytes, start: int | None) -> None:
        """``start``: where the newest cross-reference begins, on which pyHanko must agree."""
        self._signatures: dict[tuple[tuple[int, ...], bytes], EmbeddedPdfSignature] = {}
        self._names: list[str] = []
        try:
            reader = PdfFileReader(BytesIO(pdf), strict=False)
            if reader.encrypted and reader.decrypt("").status is AuthStatus.FAILED:
                return
            if reader.last_startxref == start:
                for name, _, reference in enumerate_sig_fields(reader, filled_status=True):
                    self._add(EmbeddedPdfSignature(reader, reference, name))
        except MemoryError:
            raise  # the sandbox tells that the file takes too much
        except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
            self._signatures.clear()

    def objections(self, field: SignedField) -> str:
        """Return why the file may have been altered after a signature, empty where pyHanko finds nothing. Raises
        nothing."""
        signature = self._signatures.get((field.byte_range, field.contents))
        if signature is None:
            return "nobody can tell what was changed"
        try:
            level = signature.evaluate_signature_coverage()
            if level is not SignatureCoverageLevel.ENTIRE_REVISION:
                return "nobody can tell what was changed"
            signature.coverage = level  # type: ignore[assignment]  # pyHanko annotates only the None of its start
            result = signature.evaluate_modifications(POLICY)
        except MemoryError:
            raise  # the sandbox tells that the file takes too much
        except Exception:  # noqa: BLE001 — a hostile revision makes the comparison raise anything
            return "its revisions cannot be compared"
        if not isinstance(result, DiffResult) or result.modification_level not in _HARMLESS:
            return "its content, its properties or its comments were changed"
        filled = sorted(set(result.changed_form_fields) - set(self._names))
        return f"form fields were changed: {', '.join(filled)}" if filled else ""

    def _add(self, signature: EmbeddedPdfSignature) -> None:
        try:
            numbers = tuple(int(number) for number in signature.byte_range)
            self._signatures[numbers, bytes(signature.pkcs7_content)] = signature
            self._names.append(str(signature.field_name))
        except MemoryError:
            raise  # the sandbox tells that the file takes too much
        except Exception:  # noqa: BLE001 — a hostile signature makes the reader raise anything
            return
