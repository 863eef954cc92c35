"""Whether the values that a sender gives for fields have room where they are to stand."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from paraph.pdf.typesetting.field_values import fitted_size
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_rules import row_of
from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.placing import PlannedDocument, PlannedField
from paraph.signature_requests.problems import Problems


def check(draft: SignatureRequestInput, documents: list[PlannedDocument], locale: str, problems: Problems) -> None:
    """Add a problem for each value without room; measuring one takes about two milliseconds. ``documents``: those of
    the ``draft``, in their order."""
    for path, field in _valued(draft, documents):
        row = row_of(field.given)
        row.width, row.height = field.rect.width, field.rect.height
        if fitted_size(field_content(row, row.value, locale)) is None:
            problems.add(path, _("there is no room for it in the field, not even in the smallest letters."))


def _valued(draft: SignatureRequestInput, documents: list[PlannedDocument]) -> Iterator[tuple[str, PlannedField]]:
    """Yield the fields with a value, each with its path."""
    for number, (given, planned) in enumerate(zip(draft.documents, documents, strict=True)):
        places = {assignment.signer_ref: index for index, assignment in enumerate(given.signers)}
        for field in planned.fields:
            if field.given.value is not None:
                signer = places[field.signer_ref]
                yield f"documents[{number}].signers[{signer}].fields[{field.number}].value", field
