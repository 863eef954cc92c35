"""What may be entered into a field of each type, and what is kept of it."""

from typing import Any

import pytest
from django.utils import translation

from paraph.signature_requests.fields.kinds import KINDS, InvalidEntryError, entered
from paraph.signature_requests.models import Field
from paraph.signature_requests.values import InvalidValueError


def kept(kind: str, value: object, **rules: Any) -> object:
    return entered(Field(type=kind, name="x", **rules), value)


def refused(kind: str, value: object, **rules: Any) -> tuple[str, str]:
    """The word of a refusal on the page, and its sentence."""
    with translation.override("en"), pytest.raises(InvalidEntryError) as refusal:
        kept(kind, value, **rules)
    assert isinstance(refusal.value, InvalidValueError)
    return refusal.value.word, str(refusal.value)


@pytest.mark.parametrize(
    ("kind", "value", "rules", "expected"),
    [
        ("text", " Zoë\t伟 ", {}, "Zoë 伟"),
        ("text", "x" * 200, {}, "x" * 200),
        ("text", "#set page(width: 1pt) (\\Tj) <</>>", {}, "#set page(width: 1pt) (\\Tj) <</>>"),
        ("text", "a\u202egnp.exe\u202c \u2066b\u2069", {}, "agnp.exe b"),
        ("text", "\ufeffDE\u00ad89\u200b3704", {}, "DE893704"),
        ("text", "क\u094d\u200dष", {}, "क\u094d\u200dष"),
        ("text", "e" + "\u0301" * 10, {}, "e" + "\u0301" * 10),
        ("text", "नमस्ते שָׁלוֹם สวัสดีครับ", {}, "नमस्ते שָׁלוֹם สวัสดีครับ"),
        ("multiline", "one\r\ntwo\rthree\n", {}, "one\ntwo\nthree"),
        ("multiline", "x" * 2000, {}, "x" * 2000),
        ("number", "12", {}, "12"),
        ("number", "+007.50", {}, "7.50"),
        ("number", "-0", {}, "0"),
        ("number", "-12.5", {"minimum": "-12.50"}, "-12.5"),
        ("number", "9", {"minimum": "5", "maximum": "10"}, "9"),
        ("number", "999999999999999.0123456789", {}, "999999999999999.0123456789"),
        ("date", "2024-02-29", {}, "2024-02-29"),
        ("date", "2026-03-01", {"minimum": "2026-03-01", "maximum": "2026-03-01"}, "2026-03-01"),
        ("choice", "b", {"options": ["a", "b"]}, "b"),
        ("choice", "\u202bb\u202c", {"options": ["a", "b"]}, "b"),
        ("checkbox", True, {}, True),
        ("checkbox", False, {"required": False}, False),
    ],
)
def test_what_is_kept(kind: str, value: object, rules: dict[str, Any], expected: object) -> None:
    found = kept(kind, value, **rules)
    assert (type(found), found) == (type(expected), expected)
    assert kept(kind, found, **rules) == found


@pytest.mark.parametrize(
    ("kind", "value", "rules", "why", "says"),
    [
        ("text", None, {}, "no_string", "a string"),
        ("text", 5, {}, "no_string", "a string"),
        ("text", " \u202e ", {}, "entry_missing", "not be empty"),
        ("text", "\u200b\u2060\u00ad", {}, "entry_missing", "not be empty"),
        ("text", "\u200d\ufe0f", {}, "entry_missing", "not be empty"),
        ("text", "\u3164\u2800", {}, "entry_missing", "not be empty"),
        ("multiline", "\u200b\n\u3164", {}, "entry_missing", "not be empty"),
        ("text", "x" * 201, {}, "ask_too_long", "at most 200"),
        ("text", "x" * 10_000, {}, "ask_too_long", "at most 200"),
        ("text", "abcd", {"max_length": 3}, "ask_too_long", "at most 3"),
        ("text", "a\nb", {}, "entry_unprintable", "control characters"),
        ("text", "a\0b", {}, "entry_unprintable", "control characters"),
        ("text", "a\ud800", {}, "entry_unprintable", "lone surrogates"),
        ("text", "e" + "\u0301" * 11, {}, "entry_unprintable", "10 accents"),
        ("multiline", "a\u2028b", {}, "entry_unprintable", "control characters"),
        ("multiline", "a\x1bb", {}, "entry_unprintable", "control characters"),
        ("multiline", "e" + "\u0301" * 1_999, {}, "entry_unprintable", "10 accents"),
        ("multiline", "x" * 10_000, {}, "ask_too_long", "at most 2000"),
        ("number", 12, {}, "no_string", "a string"),
        ("number", "", {}, "entry_no_number", "1250.50"),
        ("number", "1,5", {}, "entry_no_number", "1250.50"),
        ("number", "1e5", {}, "entry_no_number", "1250.50"),
        ("number", "NaN", {}, "entry_no_number", "1250.50"),
        ("number", "٣", {}, "entry_no_number", "1250.50"),
        ("number", "1" * 16, {}, "entry_no_number", "15 digits"),
        ("number", "1." + "1" * 11, {}, "entry_no_number", "10 after"),
        ("number", "1" * 10_000, {}, "entry_no_number", "15 digits"),
        ("number", "4.99", {"minimum": "5"}, "at_least", "at least 5."),
        ("number", "10.1", {"minimum": "9", "maximum": "10"}, "at_most", "at most 10."),
        ("date", "2025-02-29", {}, "entry_no_date", "2026-03-31"),
        ("date", "20250203", {}, "entry_no_date", "2026-03-31"),
        ("date", "2025-W01-1", {}, "entry_no_date", "2026-03-31"),
        ("date", "31.03.2026", {}, "entry_no_date", "2026-03-31"),
        ("date", "0000-01-01", {}, "entry_no_date", "2026-03-31"),
        ("date", "2026-02-28", {"minimum": "2026-03-01"}, "at_least", "2026-03-01"),
        ("date", "2026-03-02", {"maximum": "2026-03-01"}, "at_most", "2026-03-01"),
        ("choice", "c", {"options": ["a", "b"]}, "entry_no_option", "a, b"),
        ("choice", ["a"], {"options": ["a", "b"]}, "entry_no_option", "a, b"),
        ("checkbox", "true", {}, "no_boolean", "true or false"),
        ("checkbox", 1, {}, "no_boolean", "true or false"),
        ("checkbox", False, {}, "entry_unticked", "ticked"),
    ],
)
def test_what_is_refused(kind: str, value: object, rules: dict[str, Any], why: str, says: str) -> None:
    found, sentence = refused(kind, value, **rules)
    assert found == why
    assert says in sentence


@pytest.mark.parametrize("kind", ["signed_on", "full_name", "email"])
def test_fields_that_the_service_fills_take_nothing(kind: str) -> None:
    assert refused(kind, "x")[0] == "set_when_signing"


def test_every_type_is_read() -> None:
    for kind in KINDS:
        with pytest.raises(InvalidEntryError):
            kept(kind, {}, options=["a", "b"])
