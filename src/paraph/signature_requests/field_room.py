"""Whether the values that are known when a request is sent have room where they are to stand: those that the sender
gives, and those that the service fills in."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.pdf.typesetting.field_values import ORDINARY, FieldContent, cost, fit, fitted_size
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_rules import row_of
from paraph.signature_requests.input import SignatureRequestInput, SignerInput
from paraph.signature_requests.models import FILLED_BY_SERVICE, Field, FieldType
from paraph.signature_requests.names import full_name
from paraph.signature_requests.placing import PlannedDocument, PlannedField
from paraph.signature_requests.problems import Problems

_LONGEST_SHOWN = 100  # characters of a value in a sentence
_DAYS = [f"2028-{month:02}-28" for month in range(1, 13)]  # one in each month, with as many digits as there can be


def check(
    draft: SignatureRequestInput, documents: list[PlannedDocument], locale: str, problems: Problems, most: int = 0
) -> None:
    """Add a problem for each value without room. ``documents``: those of the ``draft``, in their order; ``locale``: of
    the request; ``most``: how many ordinary values may be measured, the rest being left out, 0 for any number."""
    known = list(_known(draft, documents, locale))
    left, chosen = most * ORDINARY, []
    for each in known:
        left -= cost(each.content)
        if most and left < 0:
            break
        chosen.append(each)
    for each, has_room in zip(chosen, fit([each.content for each in chosen]), strict=True):
        if not has_room:
            problems.add(*_problem(each))


def _problem(each: "_KnownValue") -> tuple[str, str]:
    """Return the path and the sentence."""
    if not each.by_service:
        return f"{each.path}.value", _("there is no room for it in the field, not even in the smallest letters.")
    sentence = _(
        "“%(value)s”, which the service fills in, has no room in %(width)s by %(height)s points, not even in "
        "the smallest letters."
    )
    content = each.content
    facts = {
        "value": content.text[:_LONGEST_SHOWN],
        "width": f"{content.width:g}",
        "height": f"{content.height:g}",
    }
    return f"{each.path}.placement", sentence % facts


class _KnownValue(NamedTuple):
    path: str
    content: FieldContent
    by_service: bool


def _known(draft: SignatureRequestInput, documents: list[PlannedDocument], locale: str) -> Iterator[_KnownValue]:
    for place in _places(draft, documents):
        row = row_of(place.field.given)
        row.width, row.height = place.field.rect.width, place.field.rect.height
        if row.value is not None:
            yield _KnownValue(place.path, field_content(row, row.value, locale), by_service=False)
        elif text := _of_service(row, place.signer, locale):
            yield _KnownValue(place.path, field_content(row, text, locale), by_service=True)


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


@lru_cache
def _longest_day(locale: str) -> str:
    """Return the day that has to be set smallest to fit in one and the same width."""
    row = Field(type=FieldType.SIGNED_ON, width=150, height=40, font_size=24)
    return min(_DAYS, key=lambda each: fitted_size(field_content(row, each, locale)) or 0)
