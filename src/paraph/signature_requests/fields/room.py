"""Whether the values that are known when a request is sent have room where they are to stand: those that the sender
gives, and those that the service fills in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph import words
from paraph.pdf.structure.pages import Rect
from paraph.pdf.typesetting.field_values import ORDINARY, FieldContent, cost, fit, fitted_size
from paraph.signature_requests.fields.input import FieldInput, row_of
from paraph.signature_requests.fields.kinds import KINDS, Person, field_content, known_value
from paraph.signature_requests.problems import Problems

_LONGEST_SHOWN = 100  # characters of a value in a sentence
_DAYS = [date(2028, month, 28) for month in range(1, 13)]  # one in each month, with as many digits as there can be


@dataclass(frozen=True)
class ExpectedSigner:
    """Who will sign a request that is written in ``locale``."""

    full_name: str
    email: str
    locale: str

    @property
    def signed_on(self) -> str:
        """The longest day that the signature can have."""
        return _longest_day(self.locale)


class PlacedField(NamedTuple):
    """A field at a ``path`` of the payload, and where it stands."""

    path: str
    given: FieldInput
    rect: Rect
    signer: ExpectedSigner


def check_room(fields: Iterable[PlacedField], problems: Problems, most: int = 0) -> None:
    """Add a problem for each value without room. ``most``: how many ordinary values may be measured, the rest being
    left out, 0 for any number."""
    left, chosen = most * ORDINARY, []
    for each in _known(fields):
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


def _known(fields: Iterable[PlacedField]) -> Iterator[_KnownValue]:
    for path, given, rect, signer in fields:
        if given.value is None and not KINDS[given.type].known:
            continue
        if content := known_content(given, rect.width, rect.height, signer, signer.locale):
            yield _KnownValue(path, content, by_service=given.value is None)


def known_content(given: FieldInput, width: float, height: float, signer: Person, locale: str) -> FieldContent | None:
    """Return what will stand in a field whatever its signer does, or unless the signer changes it: the value that the
    sender gave, or what the service fills in; None where neither is there. Raise ``InvalidValueError`` for a value that
    the field does not take."""
    row = row_of(given)
    row.width, row.height = width, height
    value = known_value(row, signer) or row.value
    return None if value is None else field_content(row, value, locale)


@lru_cache
def _longest_day(locale: str) -> str:
    """Return the day that has to be set smallest to fit in one and the same width."""
    sizes = {day: fitted_size(FieldContent(150, 40, words.day(day, locale), 24, locale)) or 0 for day in _DAYS}
    return min(sizes, key=lambda day: sizes[day]).isoformat()
