"""The rules by which pyHanko compares two revisions: which differences alter nothing."""

from collections.abc import Iterable

from pyhanko.pdf_utils.reader import HistoricalResolver
from pyhanko.sign.diff_analysis import (
    CatalogModificationRule,
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
    SuspiciousModification,
    XrefStreamRule,
)
from pyhanko.sign.fields import enumerate_sig_fields

_OF_THE_WRITER = {"/ModDate", "/Producer"}
_VERSIONS = ("", "/1.0", "/1.1", "/1.2", "/1.3", "/1.4", "/1.5", "/1.6", "/1.7", "/2.0")
_OF_THE_FORM = {"/Fields", "/DR", "/DA", "/Q"}
"""Keys of the form that may change, or that another rule judges. /NeedAppearances is not among them: with it, viewers
draw the fields anew."""


class _WriterInfoRule(DocInfoRule):
    """Allow a program that adds timestamps to state its name and the time, and no other change of the properties."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterable[ReferenceUpdate]:
        if _properties(old) == _properties(new):
            yield from super().apply(old, new)


class _CatalogRule(CatalogModificationRule):
    """Allow a higher version of PDF in a revision that adds a signature or timestamp, which may need it, and no other
    change of the version."""

    def apply_qualified(
        self, old: HistoricalResolver, new: HistoricalResolver
    ) -> Iterable[tuple[ModificationLevel, ReferenceUpdate]]:
        before = new.reader.get_historical_resolver(new.revision - 1)
        earlier, later = _version(before), _version(new)
        if earlier != later and not (_is_raised(earlier, later) and _signatures(new) > _signatures(before)):
            raise SuspiciousModification("the version of PDF was changed")
        yield from super().apply_qualified(old, new)


def _version(file: HistoricalResolver) -> str:
    return str(file.root.get("/Version", ""))


def _is_raised(earlier: str, later: str) -> bool:
    return {earlier, later} <= set(_VERSIONS) and _VERSIONS.index(earlier) < _VERSIONS.index(later)


def _signatures(file: HistoricalResolver) -> int:
    return sum(1 for _ in enumerate_sig_fields(file, filled_status=True))


def _properties(file: HistoricalResolver) -> dict[str, str]:
    reference = file.trailer_view.get_value_as_reference("/Info", optional=True)
    information = file.get_object(reference) if reference is not None else {}
    return {str(key): str(information[key]) for key in information if key not in _OF_THE_WRITER}


POLICY = StandardDiffPolicy(
    global_rules=[
        _CatalogRule(),  # type: ignore[no-untyped-call]  # pyHanko's annotations are partial
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
        ],
        ignored_acroform_keys=_OF_THE_FORM,
    ),
    ignore_orphaned_objects=False,
)
"""pyHanko's standard policy, but stricter: a changed title, orphaned objects, another version of PDF and a new
/NeedAppearances count as changes, since each may change what a viewer shows."""
