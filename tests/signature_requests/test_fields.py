"""Fields: their types, and what may be entered into them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

import paraph
from paraph.drafts.models import DraftSigner
from paraph.drafts.tags import offers_of
from paraph.request_templates.csv_file import sample_values, value_of
from paraph.request_templates.models import Role
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.fields.kinds import (
    KINDS,
    InvalidEntryError,
    Kind,
    Value,
    entered,
    plain_number,
    read_text,
    shown_text,
    two_readings,
)
from paraph.signature_requests.models import Field, Signer
from paraph.signature_requests.values import InvalidValueError
from paraph.words import LOCALES
from tests.api.v1.api_clients import api_client
from tests.api.v1.test_fields import field, with_fields
from tests.factories import scene
from tests.production import Client
from tests.signer.test_fields import keep
from tests.signer.test_filling import page, tag

SOURCE = Path(paraph.__file__).parent
TABLE = SOURCE / "signature_requests/fields/kinds.py"
PROOFS = SOURCE / "pdf/verification/proof_file.py"
"""It names types that proofs of any version state, and works without the service."""

DRAWING = SOURCE / "pdf/typesetting/field_values.py"
"""It tells its template ``multiline`` for any value that keeps its lines, whatever the type."""

DISTINCT = {"multiline", "checkbox", "choice", "signed_on"}
"""Types whose names mean nothing else here. Other names are words of JSON and HTML too, such as "text", or
columns, such as "email": no source may compare a type with them."""


def named_in(tree: ast.AST) -> Iterator[str]:
    """Yield the types of fields that a source names, including those in a table of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in DISTINCT:
            yield str(node.value)
        elif asks_for_one(node):
            yield from {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value in KINDS}


def asks_for_one(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return any(map(is_type, (node.left, *node.comparators)))
        case ast.Match():
            return is_type(node.subject)
        case ast.Subscript():
            return ast.unparse(node.value) == "KINDS"
    return False


def is_type(node: ast.AST) -> bool:
    return bool(re.search(r"(\.type|\.get\('type'\)|\['type'\]|\bkind)$", ast.unparse(node)))


def test_no_other_source_names_a_type_of_field() -> None:
    files = [file for file in SOURCE.rglob("*.py") if "migrations" not in file.parts]
    found = {file: set(named_in(ast.parse(file.read_text()))) for file in files}
    assert {file for file, types in found.items() if types} == {TABLE, PROOFS, DRAWING}
    assert found[TABLE] >= DISTINCT
    assert found[DRAWING] == {"multiline"}


def test_no_page_names_a_type_of_field() -> None:
    """A page asks for a type's control or properties, not for its name. HTML has an input type called checkbox, too."""
    names = "|".join(KINDS.keys() - {"checkbox", "text", "number", "date", "email"})
    named = re.compile(rf"""type ={{2,3}} ["']({names})["']|{{% if [^%]*\.type == ["']({"|".join(KINDS)})["']""")
    of_forms = SOURCE / "dashboard/templates/allauth/elements/field.html"
    pages = [file for ending in ("html", "js") for file in SOURCE.rglob(f"*.{ending}") if file != of_forms]
    assert len(pages) > 100
    assert [file for file in pages if named.search(file.read_text())] == []


def test_what_names_a_type_is_found_and_words_that_mean_something_else_are_left() -> None:
    for source in (
        'if field.type == "text": pass',
        'if content["type"] in ("number", "date"): pass',
        'if "email" == asked.type: pass',
        'KINDS["text"].size',
        '_ICONS = {"text": "pencil", "checkbox": "check"}',
        'match given.type:\n    case "date": pass',
    ):
        assert set(named_in(ast.parse(source))), source
    for source in ('schema = {"type": "number"}', 'if channel == "email": pass', "KINDS[field.type]"):
        assert not set(named_in(ast.parse(source))), source


@pytest.mark.django_db
def test_a_new_type_is_one_row_of_the_table(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API refuses and takes the new type; it is shown on the page, signed, found in tags and filled in by a CSV."""

    def postcode(row: Field, value: object) -> str:
        return read_text(row, value, longest=8).upper()

    more: dict[str, Any] = {"control": "textarea", "longest": 8, "tags": ("zip",), "example": "N1 9GU"}
    kind = Kind("postcode", "Postcode", "pencil", ("required", "value", "read_only"), postcode, **more)
    monkeypatch.setitem(KINDS, "postcode", kind)
    owner = api_client()
    owner.checked = False  # the OpenAPI document was made without the new type
    document = owner.document()
    refused = owner.create(with_fields(document, field("postcode", value="n1 9gu n1 9gu", max_length=9))).content
    assert b"type postcode has no such attribute" in refused
    assert owner.create(with_fields(document, field("postcode", value=" n1 9gu "))).status_code == 201
    assert Field.objects.get().value == "N1 9GU"
    made = scene(fields=[{"type": "postcode", "name": "where"}])
    assert tag(page(client, made), made, "where").startswith("<textarea")
    assert "at most 8 characters" in page(client, made).lower()
    assert keep(client, made, where="ec1a 1bb").status_code == 200
    assert [each.value for each in filled_fields(Signer.objects.get(pk=made.signers[0].pk), None)] == ["EC1A 1BB"]
    assert offers_of(["{{zip:tenant:Where}}"], [DraftSigner(0, "1")])["{{zip:tenant:Where}}"].kind is kind
    content = {"name": "where", "type": "postcode"}
    tenant = Role(0, "Tenant", "email", "signer", {})
    assert sample_values([tenant], [{"where": content}]) == (["Tenant: where"], ["N1 9GU"])
    assert value_of(content, "n1 9gu") == "n1 9gu"


def kept(kind: str, value: object, **rules: Any) -> object:
    return entered(Field(type=kind, name="x", **rules), value)


def refused(kind: str, value: object, **rules: Any) -> tuple[str, str]:
    """Return the name of the page's word for the refusal, and the refusal's sentence."""
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
        *[
            ("text", blank, {}, "entry_missing", "not be empty")
            for blank in (" \u202e ", "\u200b\u2060\u00ad", "\u200d\ufe0f", "\u3164\u2800")
        ],
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
        *[("number", value, {}, "entry_no_number", "1250.50") for value in ("", "1,5", "1e5", "NaN", "٣")],
        ("number", "1" * 16, {}, "entry_no_number", "15 digits"),
        ("number", "1." + "1" * 11, {}, "entry_no_number", "10 after"),
        ("number", "1" * 10_000, {}, "entry_no_number", "15 digits"),
        ("number", "4.99", {"minimum": "5"}, "at_least", "at least 5."),
        ("number", "10.1", {"minimum": "9", "maximum": "10"}, "at_most", "at most 10."),
        *[
            ("date", value, {}, "entry_no_date", "2026-03-31")
            for value in ("2025-02-29", "20250203", "2025-W01-1", "31.03.2026", "0000-01-01")
        ],
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


def test_every_type_is_read_but_for_those_that_the_service_fills() -> None:
    for kind in KINDS:
        with pytest.raises(InvalidEntryError):
            kept(kind, {}, options=["a", "b"])
    assert {refused(kind, "x")[0] for kind in ("signed_on", "full_name", "email")} == {"set_when_signing"}


PLAIN = {
    "12": "12", " 12.5 ": "12.5", "12,5": "12.5", "-0,5": "-0.5", ",5": "0.5", "12,": "12", "1.250,50": "1250.50",
    "1,250.50": "1250.50", "1 250,50": "1250.50", "1\u202f250\u00a0000,5": "1250000.5", "1’250.50": "1250.50",
    "1.250.000": "1250000", "1,250,000.5": "1250000.5", "\u0661\u0662\u0665\u0660\u066b\u0665": "1250.5",
    "\u0661\u066c\u0662\u0665\u0660\u066b\u0665": "1250.5", "\u22125": "-5", "\uff11\uff12": "12",
}  # fmt: skip


def test_with_a_comma_or_a_point() -> None:
    assert {typed: plain_number(typed) for typed in PLAIN} == PLAIN


@pytest.mark.parametrize("typed", ["", "twelve", "1.2.3", "1,2,3.4", "1.25,000.5", "12 5", "1e5", True, 12, None])
def test_what_is_no_number_stays_as_it_is(typed: object) -> None:
    assert plain_number(typed) == typed


READINGS: list[tuple[object, str, tuple[str, str] | None]] = [
    ("1.250", "de", ("1250", "1,25")),
    ("-12.345", "nl", ("-12345", "-12,345")),
    (" 100.000 ", "pt", ("100000", "100")),
    ("1,250", "en", ("1250", "1.25")),
    ("1,250", "de", None),
    ("1.250", "en", None),
    ("1.250", "fr", None),
    *((typed, "de", None) for typed in ("0.250", "1250.500", "1.25", "1.2500", "1.250,00", "1.250.000", "1250")),
    (True, "de", None),
    (None, "de", None),
    # Where the language is unknown, either mark may stand between thousands.
    ("1.250", "", ("1250", "1.25")),
    ("1,250", "", ("1250", "1.25")),
    ("100.000", "", ("100000", "100")),
    (" -12.345 ", "", ("-12345", "-12.3450")),
    ("\u0661.\u0662\u0665\u0660", "", ("1250", "1.25")),
    *((typed, "", None) for typed in ("1250", "1.25", "1,25", "0.250", "1250.500", "1.250,5", "1.2500", "", "twelve")),
]


@pytest.mark.parametrize(("typed", "locale", "readings"), READINGS)
def test_what_can_be_read_in_two_ways(typed: object, locale: str, readings: tuple[str, str] | None) -> None:
    assert two_readings(typed, locale) == readings
    assert not any(two_readings(each, locale) for each in readings or ())


def shown(kind: str, value: Value | None, locale: str = "en") -> str:
    return shown_text(Field(type=kind), value, locale)


DATES = {"en": "21 November 2026", "de": "21. November 2026", "fr": "21 novembre 2026", "ar": "21 نوفمبر 2026"}
DATES |= {"hu": "2026. november 21."}


@pytest.mark.parametrize("kind", ["date", "signed_on"])
def test_a_date_is_written_in_words(kind: str) -> None:
    assert {locale: shown(kind, "2026-11-21", locale) for locale in DATES} == DATES


NUMBERS = [
    ("1234.50", "en", "1,234.50"),
    ("1234.50", "de", "1.234,50"),
    ("-12345.678", "fr", "-12\u202f345,678"),
    ("-0.10", "fi", "-0,10"),
    ("-7", "sv", "-7"),
    ("4711", "pl", "4\u00a0711"),
    ("12345678901234567890123456789.5", "en", "12,345,678,901,234,567,890,123,456,789.5"),
    ("0", "ar", "0"),
]


def test_a_number_keeps_all_of_its_digits() -> None:
    assert [(value, locale, shown("number", value, locale)) for value, locale, _ in NUMBERS] == NUMBERS


def test_every_language_writes_dates_and_numbers_of_its_own() -> None:
    assert len({shown("date", "2026-10-05", locale) for locale in LOCALES}) > 15
    assert {shown("number", "1000.5", locale)[1] for locale in LOCALES} == {",", ".", "\u00a0", "\u202f"}


def test_words_stay_as_they_are_and_what_is_no_word_has_no_text() -> None:
    for kind in ("text", "multiline", "choice", "full_name"):
        assert shown(kind, "2026-11-21\n1234.5") == "2026-11-21\n1234.5"
    assert [shown(kind, value) for kind in KINDS for value in (None, "")] == [""] * 2 * len(KINDS)
    assert shown("checkbox", True) == shown("checkbox", False) == ""
