"""Whether the values that are known when a request is sent have room where they are to stand: those that the sender
gives, and those that the service fills in."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.pdf.typesetting.field_values import fitted_size
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_rules import row_of
from paraph.signature_requests.input import SignatureRequestInput, SignerInput
from paraph.signature_requests.models import FILLED_BY_SERVICE, Field, FieldType
from paraph.signature_requests.names import full_name
from paraph.signature_requests.placing import PlannedDocument, PlannedField
from paraph.signature_requests.problems import Problems

_LONGEST_SHOWN = 100  # characters of a value in a sentence
_DAYS = [f"2028-{month:02}-28" for month in range(1, 13)]  # one in each month, with as many digits as there can be


def check(draft: SignatureRequestInput, documents: list[PlannedDocument], locale: str, problems: Problems) -> None:
    """Add a problem for each value without room; measuring one takes about two milliseconds. ``documents``: those of
    the ``draft``, in their order; ``locale``: of the request."""
    for place in _places(draft, documents):
        row = row_of(place.field.given)
        row.width, row.height = place.field.rect.width, place.field.rect.height
        if row.value is not None:
            if not _fits(row, row.value, locale):
                sentence = _("there is no room for it in the field, not even in the smallest letters.")
                problems.add(f"{place.path}.value", sentence)
        elif (text := _of_service(row, place.signer, locale)) and not _fits(row, text, locale):
            sentence = _(
                "“%(value)s”, which the service fills in, has no room in %(width)s by %(height)s points, not even in "
                "the smallest letters."
            )
            shown = field_content(row, text, locale).text[:_LONGEST_SHOWN]
            facts = {"value": shown, "width": f"{row.width:g}", "height": f"{row.height:g}"}
            problems.add(f"{place.path}.placement", sentence % facts)


class _Place(NamedTuple):
    path: str
    field: PlannedField
    signer: SignerInput


def _places(draft: SignatureRequestInput, documents: list[PlannedDocument]) -> Iterator[_Place]:
    """Yield the fields whose values are known, each with its path."""
    signers = {signer.ref: signer for signer in draft.signers}
    for number, (given, planned) in enumerate(zip(draft.documents, documents, strict=True)):
        places = {assignment.signer_ref: index for index, assignment in enumerate(given.signers)}
        for field in planned.fields:
            if field.given.value is not None or field.given.type in FILLED_BY_SERVICE:
                path = f"documents[{number}].signers[{places[field.signer_ref]}].fields[{field.number}]"
                yield _Place(path, field, signers[field.signer_ref])


def _of_service(row: Field, signer: SignerInput, locale: str) -> str:
    """Return what the service will fill in; of the day of the signature, the longest that there is."""
    if row.type == FieldType.SIGNED_ON:
        return _longest_day(locale)
    return full_name(signer.first_name, signer.last_name, locale) if row.type == FieldType.FULL_NAME else signer.email


def _fits(row: Field, value: str | bool, locale: str) -> bool:
    return fitted_size(field_content(row, value, locale)) is not None


@lru_cache
def _longest_day(locale: str) -> str:
    """Return the day that has to be set smallest to fit in one and the same width."""
    row = Field(type=FieldType.SIGNED_ON, width=150, height=40, font_size=24)
    return min(_DAYS, key=lambda each: fitted_size(field_content(row, each, locale)) or 0)
