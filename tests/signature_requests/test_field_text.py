"""Values of fields as each language writes them."""

import pytest

from paraph.signature_requests.fields.kinds import KINDS, Value, shown_text
from paraph.signature_requests.models import Field
from paraph.words import LOCALES


def shown(kind: str, value: Value | None, locale: str = "en") -> str:
    return shown_text(Field(type=kind), value, locale)


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en", "November 21, 2026"),
        ("de", "21. November 2026"),
        ("fr", "21 novembre 2026"),
        ("hu", "2026. november 21."),
        ("ar", "21 نوفمبر 2026"),
    ],
)
def test_a_date_is_written_in_words(locale: str, text: str) -> None:
    assert shown("date", "2026-11-21", locale) == shown("signed_on", "2026-11-21", locale) == text


@pytest.mark.parametrize(
    ("value", "locale", "text"),
    [
        ("1234.50", "en", "1,234.50"),
        ("1234.50", "de", "1.234,50"),
        ("-12345.678", "fr", "-12\u202f345,678"),
        ("-0.10", "fi", "-0,10"),
        ("-7", "sv", "-7"),
        ("4711", "pl", "4\u00a0711"),
        ("12345678901234567890123456789.5", "en", "12,345,678,901,234,567,890,123,456,789.5"),
        ("0", "ar", "0"),
    ],
)
def test_a_number_keeps_all_of_its_digits(value: str, locale: str, text: str) -> None:
    assert shown("number", value, locale) == text


def test_every_language_writes_dates_and_numbers_of_its_own() -> None:
    assert len({shown("date", "2026-10-05", locale) for locale in LOCALES}) > 15
    assert {shown("number", "1000.5", locale)[1] for locale in LOCALES} == {",", ".", "\u00a0", "\u202f"}


@pytest.mark.parametrize("kind", ["text", "multiline", "choice", "full_name"])
def test_words_stay_as_they_are(kind: str) -> None:
    assert shown(kind, "2026-11-21\n1234.5") == "2026-11-21\n1234.5"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, ""])
def test_no_value_is_no_text(kind: str, value: str | None) -> None:
    assert shown(kind, value) == ""


@pytest.mark.parametrize("ticked", [True, False])
def test_a_checkbox_has_no_text(ticked: bool) -> None:
    assert shown("checkbox", ticked) == ""
