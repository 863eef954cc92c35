"""What pyHanko thinks of the changes after a signature that is not trusted, such as one that an upload brought along.

It reads leniently, so its opinion clears no file: what follows a trusted seal is judged by
:mod:`paraph.pdf.verification.appended`.
"""

import logging
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from pyhanko.pdf_utils.crypt import AuthStatus
from pyhanko.pdf_utils.generic import StreamObject
from pyhanko.pdf_utils.reader import HistoricalResolver, PdfFileReader
from pyhanko.sign.diff_analysis import (
    CatalogModificationRule,
    DiffResult,
    DocInfoRule,
    DSSCompareRule,
    FormUpdatingRule,
    GenericFieldModificationRule,
    MetadataUpdateRule,
    ModificationLevel,
    ObjectStreamRule,
    ReferenceUpdate,
    SigFieldCreationRule,
    SigFieldModificationRule,
    StandardDiffPolicy,
    SuspiciousModification,
    XrefStreamRule,
)
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation.pdf_embedded import EmbeddedPdfSignature
from pyhanko.sign.validation.status import SignatureCoverageLevel

from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.structure.signature_fields import SignedField
from paraph.pdf.verdict import or_else
from paraph.pdf.verification.appended.entries import stated_properties
from paraph.pdf.verification.appended.view import NotPermitted

logging.getLogger("pyhanko").setLevel(logging.CRITICAL)  # the findings tell what it would log about hostile files

_HARMLESS = (ModificationLevel.NONE, ModificationLevel.LTA_UPDATES, ModificationLevel.FORM_FILLING)
_OF_THE_WRITER = {"/ModDate", "/Producer"}
_VERSIONS = ("", "/1.0", "/1.1", "/1.2", "/1.3", "/1.4", "/1.5", "/1.6", "/1.7", "/2.0")
_DEFAULTS = {"/DR", "/DA", "/Q"}
"""Keys of the form by which viewers draw fields without an appearance. With /NeedAppearances they redraw all fields."""


class _WriterInfoRule(DocInfoRule):
    """Lets a program that adds timestamps state its name and the time, and change no other property."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterable[ReferenceUpdate]:
        if _properties(old) == _properties(new):
            yield from super().apply(old, new)


class _MetadataRule(MetadataUpdateRule):
    """Lets a program that adds timestamps do the same in the metadata."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterable[ReferenceUpdate]:
        if "/Metadata" in new.root and _metadata(old) == _metadata(new):
            yield from super().apply(old, new)


class _CatalogRule(CatalogModificationRule):
    """Lets a revision that adds a signature or timestamp raise the version of PDF; nothing else may change it."""

    def apply_qualified(
        self, old: HistoricalResolver, new: HistoricalResolver
    ) -> Iterable[tuple[ModificationLevel, ReferenceUpdate]]:
        before = new.reader.get_historical_resolver(new.revision - 1)
        earlier, later = _version(before), _version(new)
        is_raised = {earlier, later} <= set(_VERSIONS) and _VERSIONS.index(earlier) < _VERSIONS.index(later)
        if earlier != later and not (is_raised and _signatures(new) > _signatures(before)):
            raise SuspiciousModification("the version of PDF was changed")
        yield from super().apply_qualified(old, new)


def _metadata(file: HistoricalResolver) -> list[tuple[str, Any]]:
    """Return what the metadata says, except what writers say about themselves."""
    stream = file.root.get_value_as_reference("/Metadata", optional=True)
    value = stream.get_object() if stream else None
    if not isinstance(value, StreamObject):
        return []
    try:
        return stated_properties(PdfStream({}, value.data))
    except NotPermitted:
        return [("", value.data)]  # what not all readers read alike may only stay as it is


def _version(file: HistoricalResolver) -> str:
    return str(file.root.get("/Version", ""))


def _signatures(file: HistoricalResolver) -> int:
    return sum(1 for _ in enumerate_sig_fields(file, filled_status=True))


def _properties(file: HistoricalResolver) -> dict[str, str]:
    reference = file.trailer_view.get_value_as_reference("/Info", optional=True)
    information = file.get_object(reference) if reference is not None else {}
    return {str(key): str(information[key]) for key in information if key not in _OF_THE_WRITER}


def _policy(of_the_form: set[str]) -> StandardDiffPolicy:
    """Return pyHanko's standard policy, but stricter: a changed title, orphaned objects, another version of PDF and a
    new /NeedAppearances count as changes, since each may change what a viewer shows. ``of_the_form``: keys of the form
    that may change."""
    return StandardDiffPolicy(
        global_rules=[
            _CatalogRule(),  # type: ignore[no-untyped-call]  # pyHanko's annotations are partial
            XrefStreamRule().as_qualified(ModificationLevel.LTA_UPDATES),
            ObjectStreamRule().as_qualified(ModificationLevel.LTA_UPDATES),
            DSSCompareRule().as_qualified(ModificationLevel.LTA_UPDATES),
            _WriterInfoRule().as_qualified(ModificationLevel.LTA_UPDATES),
            _MetadataRule(check_xml_syntax=False).as_qualified(ModificationLevel.LTA_UPDATES),  # type: ignore[no-untyped-call]
        ],
        form_rule=FormUpdatingRule(
            field_rules=[
                SigFieldCreationRule(),  # type: ignore[no-untyped-call]  # as above
                SigFieldModificationRule(),
                GenericFieldModificationRule(),
            ],
            ignored_acroform_keys=of_the_form,
        ),
        ignore_orphaned_objects=False,
    )


_POLICY, _POLICY_OF_FIELDS = _policy({"/Fields", *_DEFAULTS}), _policy({"/Fields"})


class SecondOpinion:
    """The comparison of the revisions of one file by :func:`_policy`."""

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

    @or_else("its revisions cannot be compared")
    def objections(self, field: SignedField, *, defaults_matter: bool) -> str:
        """Return why the file may have been altered after a signature; empty where pyHanko finds nothing.
        ``defaults_matter``: whether something in the form may be drawn by its defaults."""
        signature = self._signatures.get((field.byte_range, field.contents))
        if signature is None:
            return "nobody can tell what was changed"
        level = signature.evaluate_signature_coverage()
        if level is not SignatureCoverageLevel.ENTIRE_REVISION:
            return "nobody can tell what was changed"
        signature.coverage = level  # type: ignore[assignment]  # pyHanko annotates only the None of its start
        result = signature.evaluate_modifications(_POLICY_OF_FIELDS if defaults_matter else _POLICY)
        if not isinstance(result, DiffResult) or result.modification_level not in _HARMLESS:
            return "its content, its properties or its comments were changed"
        filled = sorted(set(result.changed_form_fields) - set(self._names))
        return f"form fields were changed: {', '.join(filled)}" if filled else ""

    @or_else(None)
    def _add(self, signature: EmbeddedPdfSignature) -> None:
        numbers = tuple(int(number) for number in signature.byte_range)
        self._signatures[numbers, bytes(signature.pkcs7_content)] = signature
        self._names.append(str(signature.field_name))
