"""The words of stamps and proofs in a language, and how exact times are written, the same in all languages."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from babel.dates import format_skeleton

from paraph import words as catalog
from paraph.pdf.typesetting.glyph_fallback import template_text
from paraph.words import Words


@dataclass(frozen=True)
class StampWords:
    signed_by: str
    request: str
    rtl: bool


def stamp_words(locale: str) -> StampWords:
    """Return the words for ``locale`` ("fr", "fr-CA", "fr_CA")."""
    language = language_of(locale)
    words = catalog.of("stamp", language)
    return StampWords(words["signed_by"], words["request"], catalog.direction(language) == "rtl")


def moment(at: datetime, locale: str) -> str:
    """Write date and time with the timezone's name: ``21 Nov 2026, 14:05:09 UTC``. ``at`` must be aware."""
    language = language_of(locale)
    date = format_skeleton("yMMMd", at, locale="en_GB" if language == "en" else language)
    comma = "،" if catalog.direction(language) == "rtl" else ","
    return f"{date}{comma} {at:%H:%M:%S} {at.tzname()}"


def language_of(locale: str) -> str:
    code = locale.replace("_", "-").split("-")[0].lower()
    return code if code in catalog.LOCALES else "en"


def proof_words(locale: str) -> Words:
    """Return the words for ``locale`` ("fr", "fr-CA", "fr_CA"); English for unknown languages."""
    return catalog.of("proof", language_of(locale))


def named(words: Words, kind: str, name: str) -> str:
    """Return the language's word for one of the journal's names, such as "sms" of the kind "channel", or the name."""
    return str(words.get(f"{kind}_{name}", name))


def sentence(text: str, words: Words) -> str | dict[str, Any]:
    """Prepare ``text`` in the proof's language for the templates' ``write``: it goes in the direction of the language,
    even where it begins with Latin letters."""
    prepared = template_text(text)
    if isinstance(prepared, str) or catalog.direction(words["locale"]) == "ltr":
        return prepared
    return {"text": prepared["text"], "cjk": prepared["cjk"], "rtl": True}


def milliseconds(at: datetime) -> str:
    """Write a time as ``2026-11-21 14:05:09.123 UTC``, which ``paraph verify`` looks for in proofs of any language."""
    return f"{day(at)} {time_of_day(at)} UTC"


def day(at: datetime) -> str:
    """Write a day as ``2026-11-21``, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def time_of_day(at: datetime) -> str:
    """Write a time as ``14:05:09.123``, in UTC."""
    moment = at.astimezone(UTC)
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"
