"""What signers and readers of proofs read, in every language: one JSON file a language in the folder of each theme.

Themes: ``page``, ``mail``, ``consent``, ``stamp``, ``proof``, ``verdict``, ``bundle`` and ``verify``. English is
complete; a test compares the others with it. ``docs/glossary`` says which word stands for what. Dates, numbers, plurals
and directions follow CLDR (Babel).
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from datetime import date as calendar_day
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale
from babel.dates import format_date, format_time, get_datetime_format
from babel.lists import format_list
from babel.numbers import format_decimal, get_decimal_symbol, get_group_symbol

Words = dict[str, Any]

_FOLDER = Path(__file__).parent
DEFAULT_LOCALE = "en"
"""The language of a request whose creator named none."""
_DATED_AS = {"en": "en_GB"}  # day before month, and 24 hours: nobody misreads these
LOCALES = (DEFAULT_LOCALE, *sorted({path.stem for path in (_FOLDER / "page").glob("*.json")} - {DEFAULT_LOCALE}))


@cache
def of(theme: str, locale: str) -> Words:
    """Return the words of a theme and, as ``locale``, the language of their plurals. English for an unknown
    language."""
    code = locale if locale in LOCALES else DEFAULT_LOCALE
    words: Words = json.loads((_FOLDER / theme / f"{code}.json").read_text("utf-8"))
    return {**words, "locale": code}


def for_approvers(words: Words) -> Words:
    """Return the words as approvers read them: words whose names begin with ``approve_`` replace those without it."""
    prefix = "approve_"
    own = {name.removeprefix(prefix): text for name, text in words.items() if name.startswith(prefix)}
    return {**words, **own}


def phrase(words: Words, name: str, /, **values: Any) -> str:
    """Return the words of this name with their placeholders filled in."""
    return form(words, name, values.get("count")).format(**values)


def form(words: Words, name: str, count: Any = None) -> str:
    """Return the words of this name, in the form for ``count`` where they have several, named by CLDR's categories
    (``one``, ``few``, ``other``)."""
    text = words[name]
    if isinstance(text, dict):
        text = text.get(_locale(words["locale"]).plural_form(count)) or text["other"]
    return str(text)


def direction(locale: str) -> str:
    """Return ``ltr`` or ``rtl``."""
    return _locale(locale).text_direction


def language_name(locale: str) -> str:
    name = _locale(locale).display_name or locale
    return name[:1].upper() + name[1:]


def moment(time: datetime, locale: str) -> str:
    """Return date and time to the minute in words, as the language writes them, in UTC and saying so."""
    together = str(get_datetime_format("long", _DATED_AS.get(locale, locale))).replace("'", "")
    return together.format(clock(time, locale), date(time, locale))


def clock(time: datetime, locale: str) -> str:
    """Return the time of day to the minute, in UTC and saying so, with no line break before "am" or "pm"."""
    hours = format_time(time.astimezone(UTC), "short", locale=_DATED_AS.get(locale, locale)).replace(" ", "\u00a0")
    return f"{hours} UTC"


def date(time: datetime, locale: str) -> str:
    """Return the date in words, as the language writes it, in UTC."""
    return day(time.astimezone(UTC).date(), locale)


def day(on: calendar_day, locale: str) -> str:
    """Return the day in words, as the language writes it."""
    return format_date(on, "long", locale=_DATED_AS.get(locale, locale))


def number(digits: str, locale: str) -> str:
    """Return a number that is written with a point, such as "-1234.50", as the language writes it, with all of its
    digits."""
    decimals = len(digits.partition(".")[2])
    with localcontext(prec=len(digits) + 2):
        pattern = "#,##0." + "0" * decimals if decimals else "#,##0"
        return format_decimal(Decimal(digits), pattern, locale=locale)


def number_marks(locale: str) -> tuple[str, str]:
    """Return what the language writes between thousands and before decimals."""
    return get_group_symbol(locale), get_decimal_symbol(locale)


def listed(items: Sequence[str], locale: str) -> str:
    """Return the items in a row, with the commas and the "and" of the language."""
    return format_list(items, "standard", locale)


@cache
def _locale(code: str) -> Locale:
    return Locale.parse(code)
