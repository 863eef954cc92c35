"""Reading what is entered into a field, by its signer or by the sender beforehand: texts, numbers, dates, options,
ticks.

A reader takes a field, whose rules it holds to, and a value; it returns the value as it is kept, or raises
:class:`InvalidEntryError`. Whether a field may be changed at all (``read_only``), and whether it may be left empty, is
for callers to decide.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from paraph import words
from paraph.pdf.typesetting.field_values import FieldContent
from paraph.signature_requests.models import LONGEST_FIELD_NAME, Field
from paraph.signature_requests.values import UNPRINTABLE, InvalidValueError, shown

Value = str | bool
"""A text, or whether a checkbox is ticked. A date is ``YYYY-MM-DD``, a number has a point."""

LONGEST_LINE, LONGEST_TEXT = 200, 2000  # characters of a line and of several, where their field does not say
MOST_DIGITS, MOST_DECIMALS = 15, 10  # of a number
MOST_ACCENTS = 10  # on one letter; no language has as many, and more reach over other lines

_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DECIMALS}}})?")
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPACES = re.compile(r"(?<=\d)[\s’'](?=\d{3})")  # between thousands, of any width
_MARKS = re.compile("[.,]")
_PLAIN = str.maketrans("\u066b\u066c\u02bc\u2212", ",''-")  # marks and signs that stand for one of ASCII
_TWO_READINGS = re.compile(r"([+-]?[1-9]\d{0,2})([.,])(\d{3})")
_JOINERS = "\u200c\u200d"  # some scripts are spelled with them
# What may stand between letters and is nothing by itself: blanks, joiners, fillers and variation selectors.
_NOTHING = re.compile("[\\s\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0]+")


class InvalidEntryError(InvalidValueError):
    """The value is invalid. ``word`` names the sentence on the signing page, in all of its languages, and ``facts``
    fill it."""

    def __init__(self, word: str, sentence: str, **facts: Any) -> None:
        super().__init__(sentence % facts)
        self.word, self.facts = word, facts


def drawable(written: str) -> str:
    """Return the text without characters that are never drawn and often come with pasted text: marks that change the
    direction of writing, soft hyphens, zero-width spaces."""
    if written.isascii():
        return written
    undrawn = {sign for sign in set(written) if sign not in _JOINERS and unicodedata.category(sign) == "Cf"}
    return written.translate(dict.fromkeys(map(ord, undrawn))) if undrawn else written


def is_blank(written: str) -> bool:
    """Return whether nothing of the text would be visible."""
    return not _NOTHING.sub("", drawable(written))


def read_text(field: Field, value: object, longest: int, unseen: str = "") -> str:
    """Read a text without blanks around it and without what is not drawn (:func:`drawable`). ``longest``: how many
    characters it may have where the field does not say; ``unseen``: a control character that it may have."""
    written = re.sub(r"\r\n?", "\n", drawable(_string(value)).replace("\t", " ")).strip()
    longest = field.max_length or longest
    if is_blank(written):
        raise InvalidEntryError("entry_missing", _("it must not be empty."))
    if len(written) > longest:
        raise InvalidEntryError(
            "ask_too_long", _("it must have at most %(limit)d characters."), limit=longest, most=longest
        )
    if UNPRINTABLE.search(written.replace(unseen, "")):
        raise InvalidEntryError("entry_unprintable", _("it must not contain control characters or lone surrogates."))
    if not written.isascii() and _most_accents(written) > MOST_ACCENTS:
        sentence = _("it must not have more than %(limit)d accents on one letter.")
        raise InvalidEntryError("entry_unprintable", sentence, limit=MOST_ACCENTS)
    return written


def _most_accents(written: str) -> int:
    marks = {sign for sign in set(written) if unicodedata.category(sign) in ("Mn", "Me")}
    runs = groupby(written, marks.__contains__)
    return max((len(list(run)) for is_accent, run in runs if is_accent), default=0)


def read_number(field: Field, value: object) -> str:
    """Read a number as a text with a point, without a plus or zeros before it."""
    written = _string(value).strip()
    if not _NUMBER.fullmatch(written):
        sentence = _(
            "it must be a number with a point, such as 1250.50, with at most %(digits)d digits before the point and "
            "%(decimals)d after it."
        )
        raise InvalidEntryError("entry_no_number", sentence, digits=MOST_DIGITS, decimals=MOST_DECIMALS)
    return _within(field, f"{+Decimal(written):f}", Decimal)


def read_date(field: Field, value: object) -> str:
    """Read a date as ``YYYY-MM-DD``."""
    written = _string(value).strip()
    try:
        if not _DATE.fullmatch(written):
            raise ValueError
        date.fromisoformat(written)
    except ValueError:
        sentence = _("it must be a date written as year, month and day, such as 2026-03-31.")
        raise InvalidEntryError("entry_no_date", sentence) from None
    return _within(field, written, str)


def _within(field: Field, written: str, measure: Callable[[str], Any]) -> str:
    if field.minimum and measure(written) < measure(field.minimum):
        raise InvalidEntryError("at_least", _("it must be at least %(least)s."), least=field.minimum)
    if field.maximum and measure(written) > measure(field.maximum):
        raise InvalidEntryError("at_most", _("it must be at most %(most)s."), most=field.maximum)
    return written


def read_option(field: Field, value: object) -> str:
    """Read one of the options of the field."""
    value = drawable(value) if isinstance(value, str) else value
    if not isinstance(value, str) or value not in field.options:
        sentence = _("it must be one of %(values)s.")
        raise InvalidEntryError("entry_no_option", sentence, values=shown(", ".join(field.options)))
    return value


def read_tick(field: Field, value: object) -> bool:
    """Read whether a box is ticked."""
    if not isinstance(value, bool):
        raise InvalidEntryError("no_boolean", _("it must be a JSON boolean, true or false."))
    if field.required and not value:
        raise InvalidEntryError("entry_unticked", _("it must be true, as this box has to be ticked."))
    return value


def refuse(field: Field, value: object) -> Value:  # noqa: ARG001
    """Refuse any value, in the place of a reader."""
    raise InvalidEntryError("set_when_signing", _("the service fills this field itself."))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidEntryError("no_string", _("it must be a string."))
    return value


class Readings(NamedTuple):
    """What a number could be, as the language writes it: with thousands, or with decimals."""

    large: str
    small: str


def two_readings(typed: object, locale: str = "") -> Readings | None:
    """Return both readings of a number such as 1.250, whose only mark stands between thousands in the language, and
    before decimals elsewhere; None where there is at most one. Without a ``locale`` the language of the number is
    unknown: both readings then have a point, and three decimals get a zero more, to be read in one way only.
    """
    found = _TWO_READINGS.fullmatch(_plain_text(typed)) if isinstance(typed, str) else None
    thousands, decimal = words.number_marks(locale) if locale else ("", ".")
    if found is None or thousands not in ("", found[2]):
        return None
    decimals = found[3].rstrip("0")
    if not locale and len(decimals) == 3:
        decimals += "0"
    return Readings(found[1] + found[3], f"{found[1]}{decimal}{decimals}" if decimals else found[1])


def plain_number(typed: object) -> object:
    """Return a number with a point and without marks between thousands, whether it was typed with a comma or a point,
    and in whatever digits. The last mark is the decimal one, unless it occurs twice. Anything else is left alone."""
    if not isinstance(typed, str):
        return typed
    text = _plain_text(typed)
    marks = _MARKS.findall(text)
    if not marks:
        return text
    if marks.count(marks[-1]) > 1:
        return text.replace(marks[-1], "") if len(set(marks)) == 1 and _has_thousands(text, marks[-1]) else text
    whole, _, rest = text.rpartition(marks[-1])
    if len(marks) > 1 and not _has_thousands(whole, marks[0]):
        return text
    return f"{_MARKS.sub('', whole) or '0'}.{rest}" if rest else _MARKS.sub("", whole)


def _plain_text(typed: str) -> str:
    plain = typed.strip().translate(_PLAIN)
    return _SPACES.sub("", "".join(str(unicodedata.decimal(sign, sign)) for sign in plain))


def _has_thousands(text: str, mark: str) -> bool:
    first, *groups = text.lstrip("+-").split(mark)
    return 1 <= len(first) <= 3 and all(len(group) == 3 for group in groups)


DEFAULT_SIZE = (160.0, 18.0)
_ASKED = ("required", "value", "read_only")
_BOX = (12.0, 12.0)
_SHORT = (100.0, 18.0)


class Person(Protocol):
    """What the service fills in about a signer."""

    @property
    def full_name(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def signed_on(self) -> str: ...


@dataclass(frozen=True)
class Kind:
    """A type of field. The signer enters what ``read`` takes, unless the service fills in what is ``known``.

    ``attributes``: those that it may have beside a name, a label and a font size. ``text``: how a value is written in a
    language. ``longest``: of a text, where the field does not say. ``control``: of the signing page; ``rules``: words
    of that page beside it, ``bounds``: its words for a least and a greatest value. ``size``: in points, where a payload
    gives none; ``drawn``: the size of a new field in the editor, ``tags``: other names for the type in tags of a
    document. ``example``: a cell of a CSV.
    """

    type: str
    label: str | Promise
    icon: str
    attributes: tuple[str, ...] = ()
    read: Callable[[Field, object], Value] = refuse
    known: Callable[[Person], str] | None = None
    text: Callable[[str, str], str] = lambda value, _locale: value
    longest: int = 0
    control: Literal["text", "decimal", "date", "textarea", "select", "checkbox"] = "text"
    rules: tuple[str, ...] = ()
    bounds: tuple[str, str] = ("at_least", "at_most")
    size: tuple[float, float] = DEFAULT_SIZE
    drawn: tuple[float, float] = DEFAULT_SIZE
    tags: tuple[str, ...] = ()
    example: str = "…"

    @property
    def is_box(self) -> bool:
        """Whether its value is no text, but says whether it is ticked."""
        return self.control == "checkbox"

    @property
    def is_number(self) -> bool:
        """Whether people write its value with marks of their language, and payloads its bounds as numbers."""
        return self.control == "decimal"

    def content(self, name: str) -> dict[str, Any]:
        """Return a new field of the kind, as the payload has it."""
        content = {"name": name, "type": self.type, "font_size": 10}
        if "options" in self.attributes:
            content["options"] = [_("Option %(number)s") % {"number": number} for number in (1, 2)]
        return content


def _day(value: str, locale: str) -> str:
    return words.day(date.fromisoformat(value), locale)


_line = partial(read_text, longest=LONGEST_LINE)
_lines = partial(read_text, longest=LONGEST_TEXT, unseen="\n")
_LIMITED, _BOUNDED, _CHOSEN = (*_ASKED, "max_length"), (*_ASKED, "minimum", "maximum"), (*_ASKED, "options")
_ALL = (
    Kind("text", gettext_lazy("Text"), "pencil", _LIMITED, _line, longest=LONGEST_LINE),
    Kind(
        "multiline", gettext_lazy("Paragraph"), "bars-3-bottom-left", _LIMITED, _lines,
        longest=LONGEST_TEXT, control="textarea", drawn=(240, 60), tags=("paragraph",),
    ),
    Kind(
        "number", pgettext_lazy("field", "Number"), "hashtag", _BOUNDED, read_number,
        text=words.number, control="decimal", rules=("rule_number",), drawn=_SHORT, example="1250.50",
    ),
    Kind(
        "date", gettext_lazy("Date"), "calendar", _BOUNDED, read_date,
        text=_day, control="date", bounds=("not_before", "not_after"), drawn=_SHORT, example="2026-03-31",
    ),
    Kind(
        "checkbox", gettext_lazy("Checkbox"), "check", _ASKED, read_tick,
        control="checkbox", size=_BOX, drawn=_BOX, tags=("check",), example="x",
    ),
    Kind("choice", gettext_lazy("Choice"), "chevron-up-down", _CHOSEN, read_option, control="select"),
    Kind(
        "signed_on", gettext_lazy("Date signed"), "calendar-days",
        known=attrgetter("signed_on"), text=_day, drawn=_SHORT,
    ),
    Kind("full_name", gettext_lazy("Name"), "user", known=attrgetter("full_name"), tags=("name",)),
    Kind("email", gettext_lazy("E-mail"), "at-symbol", known=attrgetter("email")),
)  # fmt: skip
KINDS = {kind.type: kind for kind in _ALL}
PALETTE = ("signed_on", "full_name", "text", "checkbox")  # what most documents ask for, in the order of the editor


def entered(field: Field, value: object) -> Value:
    """Return a value as it is kept. Raise ``InvalidEntryError``, also for a field that the service fills."""
    return KINDS[field.type].read(field, value)


def is_entered(field: Field) -> bool:
    """Return whether the signer enters the value, and neither the service nor the sender alone sets it."""
    return not field.read_only and KINDS[field.type].known is None


def known_value(field: Field, person: Person) -> str | None:
    """Return what the service fills in about the signer; None for a field of another type."""
    known = KINDS[field.type].known
    return known(person) if known else None


def shown_text(field: Field, value: Value | None, locale: str) -> str:
    """Return the text of a value as it is drawn and printed: dates and numbers as the language writes them, "" for
    None, and for a checkbox, which has a cross or a word of its own instead."""
    return "" if not value or isinstance(value, bool) else KINDS[field.type].text(value, locale)


def field_content(field: Field, value: Value | None, locale: str) -> FieldContent:
    """Return what is drawn for a field: the same where it is shown, where it is measured and where it is sealed.
    ``locale`` is that of the request."""
    return FieldContent(
        width=field.width,
        height=field.height,
        text=shown_text(field, value, locale),
        font_size=field.font_size,
        locale=locale,
        multiline=KINDS[field.type].control == "textarea",
        ticked=value is True,
    )


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name of a field, with -2, -3 … at its end where it is taken."""
    names, number = set(taken), 1
    candidate = name
    while candidate in names:
        number += 1
        ending = f"-{number}"
        candidate = f"{name[: LONGEST_FIELD_NAME - len(ending)]}{ending}"
    return candidate
