"""Words and dates on stamps in the signer's language; English for unknown languages."""

from dataclasses import dataclass
from datetime import datetime

from babel.dates import format_skeleton

from paraph import words as catalog


@dataclass(frozen=True)
class StampWords:
    signed_by: str
    request: str
    rtl: bool


def stamp_words(locale: str) -> StampWords:
    """Returns the words for ``locale`` ("fr", "fr-CA", "fr_CA")."""
    language = language_of(locale)
    words = catalog.of("stamp", language)
    return StampWords(words["signed_by"], words["request"], catalog.direction(language) == "rtl")


def moment(at: datetime, locale: str) -> str:
    """Writes date and time with the timezone's name: ``21 Nov 2026, 14:05:09 UTC``. ``at`` must be aware."""
    language = language_of(locale)
    date = format_skeleton("yMMMd", at, locale="en_GB" if language == "en" else language)
    comma = "،" if catalog.direction(language) == "rtl" else ","
    return f"{date}{comma} {at:%H:%M:%S} {at.tzname()}"


def language_of(locale: str) -> str:
    code = locale.replace("_", "-").split("-")[0].lower()
    return code if code in catalog.LOCALES else "en"
