"""Which changes between two revisions are none: the rules by which pyHanko compares them."""

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
    XrefStreamRule,
)

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


POLICY = StandardDiffPolicy(
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
