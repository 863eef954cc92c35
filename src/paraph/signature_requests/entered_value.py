"""Reading what is entered into a field: by its signer, or by the sender beforehand.

Whether a field may be changed at all (``read_only``), and whether it may be left empty, is for those who ask.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _

from paraph.signature_requests.field_values import Value
from paraph.signature_requests.models import Field, FieldType
from paraph.signature_requests.values import UNPRINTABLE, InvalidValueError, shown

LONGEST = {FieldType.TEXT: 200, FieldType.MULTILINE: 2000}
"""How many characters a text may have where its field does not say."""

MOST_DIGITS, MOST_DECIMALS = 15, 10  # of a number
MOST_ACCENTS = 10  # on one letter; no language has as many, and more reach over other lines

_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DECIMALS}}})?")
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_JOINERS = "\u200c\u200d"  # some scripts are spelled with them
# What may stand between letters and is nothing by itself: blanks, joiners, fillers and variation selectors.
_NOTHING = re.compile("[\\s\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0]+")


class InvalidEntryError(InvalidValueError):
    """The value is invalid. ``kind`` names the sentence and ``facts`` fill it, for pages in languages that it does not
    have."""

    def __init__(self, kind: str, sentence: str, **facts: Any) -> None:
        super().__init__(sentence % facts)
        self.kind, self.facts = kind, facts


def entered(field: Field, value: object) -> Value:
    """Return a value as it is kept: a date as ``YYYY-MM-DD``, a number as a text with a point, without a plus or
    zeros before it, a text without blanks around it and without what is not drawn (:func:`drawable`).

    Raises ``InvalidEntryError``, also for a field that the service fills.
    """
    if reader := _READERS.get(field.type):
        return reader(field, value)
    raise InvalidEntryError("filled_by_service", _("the service fills this field itself."))


def drawable(written: str) -> str:
    """Return the text without what is never drawn and often comes with pasted text: signs that turn the direction of
    writing, soft hyphens, spaces of no width."""
    if written.isascii():
        return written
    undrawn = {sign for sign in set(written) if sign not in _JOINERS and unicodedata.category(sign) == "Cf"}
    return written.translate(dict.fromkeys(map(ord, undrawn))) if undrawn else written


def is_blank(written: str) -> bool:
    """Return whether nothing would be seen of the text."""
    return not _NOTHING.sub("", drawable(written))


def _text(field: Field, value: object) -> str:
    written = re.sub(r"\r\n?", "\n", drawable(_string(value)).replace("\t", " ")).strip()
    longest = field.max_length or LONGEST[FieldType(field.type)]
    if is_blank(written):
        raise InvalidEntryError("empty", _("it must not be empty."))
    if len(written) > longest:
        raise InvalidEntryError("too_long", _("it must have at most %(limit)d characters."), limit=longest)
    if UNPRINTABLE.search(written.replace("\n", "") if field.type == FieldType.MULTILINE else written):
        raise InvalidEntryError("unprintable", _("it must not contain control characters or lone surrogates."))
    if not written.isascii() and _most_accents(written) > MOST_ACCENTS:
        sentence = _("it must not have more than %(limit)d accents on one letter.")
        raise InvalidEntryError("accents", sentence, limit=MOST_ACCENTS)
    return written


def _most_accents(written: str) -> int:
    marks = {sign for sign in set(written) if unicodedata.category(sign) in ("Mn", "Me")}
    runs = groupby(written, marks.__contains__)
    return max((len(list(run)) for is_accent, run in runs if is_accent), default=0)


def _number(field: Field, value: object) -> str:
    written = _string(value).strip()
    if not _NUMBER.fullmatch(written):
        sentence = _(
            "it must be a number with a point, such as 1250.50, with at most %(digits)d digits before the point and "
            "%(decimals)d after it."
        )
        raise InvalidEntryError("no_number", sentence, digits=MOST_DIGITS, decimals=MOST_DECIMALS)
    return _within(field, f"{+Decimal(written):f}", Decimal)


def _date(field: Field, value: object) -> str:
    written = _string(value).strip()
    try:
        if not _DATE.fullmatch(written):
            raise ValueError
        date.fromisoformat(written)
    except ValueError:
        sentence = _("it must be a date written as year, month and day, such as 2026-03-31.")
        raise InvalidEntryError("no_date", sentence) from None
    return _within(field, written, str)


def _within(field: Field, written: str, measure: Callable[[str], Any]) -> str:
    if field.minimum and measure(written) < measure(field.minimum):
        raise InvalidEntryError("too_small", _("it must be at least %(least)s."), least=field.minimum)
    if field.maximum and measure(written) > measure(field.maximum):
        raise InvalidEntryError("too_large", _("it must be at most %(most)s."), most=field.maximum)
    return written


def _choice(field: Field, value: object) -> str:
    value = drawable(value) if isinstance(value, str) else value
    if not isinstance(value, str) or value not in field.options:
        sentence = _("it must be one of %(values)s.")
        raise InvalidEntryError("no_option", sentence, values=shown(", ".join(field.options)))
    return value


def _tick(field: Field, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidEntryError("no_boolean", _("it must be a JSON boolean, true or false."))
    if field.required and not value:
        raise InvalidEntryError("unticked", _("it must be true, as this box has to be ticked."))
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidEntryError("no_string", _("it must be a string."))
    return value


_READERS: dict[str, Callable[[Field, object], Value]] = {
    FieldType.TEXT: _text,
    FieldType.MULTILINE: _text,
    FieldType.NUMBER: _number,
    FieldType.DATE: _date,
    FieldType.CHOICE: _choice,
    FieldType.CHECKBOX: _tick,
}
