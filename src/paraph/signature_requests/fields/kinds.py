"""The types of fields. All that depends on a type stands here: what it reads and how that is written, what can be asked
of it, its control on the signing page, its names and its look in the editor, its cells in a CSV."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from functools import partial
from operator import attrgetter
from typing import Any, Literal, Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from paraph import words
from paraph.pdf.typesetting.field_values import FieldContent
from paraph.signature_requests.fields import readers
from paraph.signature_requests.fields.readers import LONGEST_LINE, LONGEST_TEXT, Value
from paraph.signature_requests.models import LONGEST_FIELD_NAME, Field

DEFAULT_SIZE = (160.0, 18.0)
_ASKED = ("required", "value", "read_only")
_BOX = (12.0, 12.0)
_SHORT = (100.0, 18.0)


class Person(Protocol):
    """What the service fills in of who signs."""

    @property
    def full_name(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def signed_on(self) -> str: ...


@dataclass(frozen=True)
class Kind:
    """A type of field. The signer enters what ``read`` takes, unless the service fills in what is ``known``.

    ``attributes``: what can be said of it beside a name, a label and a font size. ``text``: how a value is written in a
    language. ``longest``: of a text, where the field does not say. ``control``: of the signing page; ``rules``: words
    of that page beside it, ``bounds``: its words for a least and a greatest value. ``size``: in points, where a payload
    gives none; ``drawn``: that of a new one in the editor, ``tags``: what it is also called in tags of a document.
    ``example``: a cell of a CSV.
    """

    type: str
    label: str | Promise
    icon: str
    attributes: tuple[str, ...] = ()
    read: Callable[[Field, object], Value] = readers.refuse
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
        """Whether its value is whether it is ticked, and no text."""
        return self.control == "checkbox"

    @property
    def is_number(self) -> bool:
        """Whether people write its value with marks of their language, and payloads its bounds as numbers."""
        return self.control == "decimal"

    def content(self, name: str) -> dict[str, Any]:
        """Return what a new field of the kind asks, as the payload has it."""
        content = {"name": name, "type": self.type, "font_size": 10}
        if "options" in self.attributes:
            content["options"] = [_("Option %(number)s") % {"number": number} for number in (1, 2)]
        return content


def _day(value: str, locale: str) -> str:
    return words.day(date.fromisoformat(value), locale)


_line = partial(readers.read_text, longest=LONGEST_LINE)
_lines = partial(readers.read_text, longest=LONGEST_TEXT, unseen="\n")
_LIMITED, _BOUNDED, _CHOSEN = (*_ASKED, "max_length"), (*_ASKED, "minimum", "maximum"), (*_ASKED, "options")
_ALL = (
    Kind("text", gettext_lazy("Text"), "pencil", _LIMITED, _line, longest=LONGEST_LINE),
    Kind(
        "multiline", gettext_lazy("Paragraph"), "bars-3-bottom-left", _LIMITED, _lines,
        longest=LONGEST_TEXT, control="textarea", drawn=(240, 60), tags=("paragraph",),
    ),
    Kind(
        "number", pgettext_lazy("field", "Number"), "hashtag", _BOUNDED, readers.read_number,
        text=words.number, control="decimal", rules=("rule_number",), drawn=_SHORT, example="1250.50",
    ),
    Kind(
        "date", gettext_lazy("Date"), "calendar", _BOUNDED, readers.read_date,
        text=_day, control="date", bounds=("not_before", "not_after"), drawn=_SHORT, example="2026-03-31",
    ),
    Kind(
        "checkbox", gettext_lazy("Checkbox"), "check", _ASKED, readers.read_tick,
        control="checkbox", size=_BOX, drawn=_BOX, tags=("check",), example="x",
    ),
    Kind("choice", gettext_lazy("Choice"), "chevron-up-down", _CHOSEN, readers.read_option, control="select"),
    Kind(
        "signed_on", gettext_lazy("Date of signature"), "calendar-days",
        known=attrgetter("signed_on"), text=_day, drawn=_SHORT,
    ),
    Kind("full_name", gettext_lazy("Full name"), "user", known=attrgetter("full_name"), tags=("name",)),
    Kind("email", gettext_lazy("E-mail"), "at-symbol", known=attrgetter("email")),
)  # fmt: skip
KINDS = {kind.type: kind for kind in _ALL}


def entered(field: Field, value: object) -> Value:
    """Return a value as it is kept. Raise ``InvalidEntryError``, also for a field that the service fills."""
    return KINDS[field.type].read(field, value)


def is_entered(field: Field) -> bool:
    """Return whether the signer enters the value, and neither the service nor the sender alone sets it."""
    return not field.read_only and KINDS[field.type].known is None


def known_value(field: Field, person: Person) -> str | None:
    """Return what the service fills in of who signs; None for a field of another type."""
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
