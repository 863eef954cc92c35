"""Numbers as people type them."""

import pytest

from paraph.signature_requests.fields.kinds import plain_number, two_readings


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("12", "12"),
        (" 12.5 ", "12.5"),
        ("12,5", "12.5"),
        ("-0,5", "-0.5"),
        (",5", "0.5"),
        ("12,", "12"),
        ("1.250,50", "1250.50"),
        ("1,250.50", "1250.50"),
        ("1 250,50", "1250.50"),
        ("1\u202f250\u00a0000,5", "1250000.5"),
        ("1’250.50", "1250.50"),
        ("1.250.000", "1250000"),
        ("1,250,000.5", "1250000.5"),
        ("\u0661\u0662\u0665\u0660\u066b\u0665", "1250.5"),
        ("\u0661\u066c\u0662\u0665\u0660\u066b\u0665", "1250.5"),
        ("\u22125", "-5"),
        ("\uff11\uff12", "12"),
    ],
)
def test_with_a_comma_or_a_point(typed: str, plain: str) -> None:
    assert plain_number(typed) == plain


@pytest.mark.parametrize("typed", ["", "twelve", "1.2.3", "1,2,3.4", "1.25,000.5", "12 5", "1e5", True, 12, None])
def test_what_is_no_number_stays_as_it_is(typed: object) -> None:
    assert plain_number(typed) == typed


@pytest.mark.parametrize(
    ("typed", "locale", "readings"),
    [
        ("1.250", "de", ("1250", "1,25")),
        ("-12.345", "nl", ("-12345", "-12,345")),
        (" 100.000 ", "pt", ("100000", "100")),
        ("1,250", "en", ("1250", "1.25")),
    ],
)
def test_what_can_be_read_in_two_ways(typed: str, locale: str, readings: tuple[str, str]) -> None:
    assert two_readings(typed, locale) == readings
    assert not any(two_readings(each, locale) for each in readings)


@pytest.mark.parametrize(
    ("typed", "locale"),
    [
        ("1,250", "de"),
        ("1.250", "en"),
        ("1.250", "fr"),
        ("0.250", "de"),
        ("1250.500", "de"),
        ("1.25", "de"),
        ("1.2500", "de"),
        ("1.250,00", "de"),
        ("1.250.000", "de"),
        ("1250", "de"),
        (True, "de"),
        (None, "de"),
    ],
)
def test_what_can_be_read_in_one_way(typed: object, locale: str) -> None:
    assert two_readings(typed, locale) is None


@pytest.mark.parametrize(
    ("typed", "readings"),
    [
        ("1.250", ("1250", "1.25")),
        ("1,250", ("1250", "1.25")),
        ("100.000", ("100000", "100")),
        (" -12.345 ", ("-12345", "-12.3450")),
        ("\u0661.\u0662\u0665\u0660", ("1250", "1.25")),
    ],
)
def test_where_nobody_knows_the_language_either_mark_may_stand_between_thousands(
    typed: str, readings: tuple[str, str]
) -> None:
    assert two_readings(typed) == readings
    assert not any(two_readings(each) for each in readings)


@pytest.mark.parametrize("typed", ["1250", "1.25", "1,25", "0.250", "1250.500", "1.250,5", "1.2500", "", "twelve"])
def test_what_has_one_reading_in_every_language(typed: str) -> None:
    assert two_readings(typed) is None
