"""The words of signers in every language: complete, translated, used, and with the forms that the language has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from babel import Locale
from django.conf import settings
from django.utils import translation

import paraph
from paraph import words as catalog
from paraph.audit_trail.models import EventType
from paraph.signature_requests.models import Channel, Mode
from paraph.signer.answers import STATUSES
from paraph.signer.scripts import _NAMES
from paraph.tenants.models import Environment
from paraph.words import LOCALES

SOURCE = Path(paraph.__file__).parent
FOLDER = SOURCE / "words"
THEMES = ("page", "answer", "mail", "consent", "stamp", "proof")
_LOOKED_UP = re.compile(r"^approve_|_title$|_text$|_missing$|^code_why_|^send_by_")


def forms(sentence: Any) -> dict[str, str]:
    return sentence if isinstance(sentence, dict) else {"other": sentence}


@pytest.mark.parametrize("theme", THEMES)
def test_every_language_has_a_file(theme: str) -> None:
    assert {path.stem for path in (FOLDER / theme).glob("*.json")} == set(LOCALES)


@pytest.mark.parametrize("locale", [code for code, _ in settings.LANGUAGES])
def test_what_is_to_be_corrected_has_one_name_on_all_pages(locale: str) -> None:
    with translation.override(locale):
        assert catalog.of("page", locale)["problems"] == translation.gettext("Please correct this")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("theme", THEMES)
def test_every_language_has_the_same_words_and_places_to_fill(theme: str, locale: str) -> None:
    english, words = catalog.of(theme, "en"), catalog.of(theme, locale)
    assert list(words) == list(english)
    tags = Locale.parse(locale).plural_form.tags
    for name, sentence in words.items():
        if name == "locale":
            continue
        filled = set(re.findall(r"{\w+}", forms(english[name])["other"]))
        for category, form in forms(sentence).items():
            own = set(re.findall(r"{\w+}", form))
            assert own <= filled, (locale, name)
            assert filled - own <= ({"{count}"} if category in ("one", "two", "zero") else set()), (
                locale,
                name,
                category,
            )
            assert form.strip() == form and form
        if isinstance(english[name], dict):
            assert set(forms(sentence)) == {*tags, "other"}, (locale, name)


@pytest.mark.parametrize("locale", LOCALES[1:])
@pytest.mark.parametrize("theme", THEMES)
def test_no_sentence_is_left_in_english(theme: str, locale: str) -> None:
    english, words = catalog.of(theme, "en"), catalog.of(theme, locale)
    alike = {name for name, sentence in words.items() if sentence == english[name] and " " in str(sentence)}
    assert alike == set()


def test_every_word_for_the_scripts_is_said_by_them() -> None:
    """By name, as an error's code, or as what is missing."""
    scripts = "".join(path.read_text() for path in (SOURCE / "signer/static").rglob("*.js"))
    by_code = set(STATUSES) | {"signature_missing", "initials_missing", "locale"}
    assert [name for name in _NAMES if name not in by_code and f'"{name}"' not in scripts] == []


def test_every_word_of_the_page_is_used() -> None:
    files = [path for path in (SOURCE / "signer").rglob("*") if path.suffix in (".html", ".py", ".js")]
    files += (SOURCE / "signature_requests/fields").glob("*.py")  # what is wrong with what was entered
    source = "".join(path.read_text() for path in files)
    names = [_LOOKED_UP.sub("", name) for name in json.loads((FOLDER / "page/en.json").read_text())]
    assert [name for name in names if name and not re.search(rf"\b{name}", source)] == []


def test_every_word_of_the_answers_is_used() -> None:
    source = "".join(
        path.read_text()
        for room in ("signer", "signature_requests", "otp", "flow")
        for path in (SOURCE / room).rglob("*.py")
    )
    names = [name.removeprefix("approve_") for name in json.loads((FOLDER / "answer/en.json").read_text())]
    assert [name for name in names if f'"{name}"' not in source] == []


def test_every_word_of_the_proof_is_used() -> None:
    """Where the proof is set, or as one of the names that a journal holds."""
    setting = [*(SOURCE / "pdf/typesetting").rglob("proof*"), SOURCE / "flow/sealing/proof_content.py"]
    said = "".join(path.read_text() for path in setting if path.suffix != ".pyc")
    journaled = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    names = {f"event_{event.name.lower()}" for event in EventType}
    names |= {f"mode_{mode}" for mode in Mode} | {f"environment_{each}" for each in Environment}
    names |= {f"channel_{channel}" for channel in Channel}
    for name in json.loads((FOLDER / "proof/en.json").read_text()):
        kind, _, rest = name.partition("_")
        source, word = (journaled, rest) if kind in ("meta", "part") else (said, name)
        assert name in names or re.search(rf"\b{word}\b", source), name


@pytest.mark.parametrize("theme", THEMES)
def test_french_punctuation_never_begins_a_line(theme: str) -> None:
    for sentence in catalog.of(theme, "fr").values():
        for form in forms(sentence).values():
            told = re.sub(r"\d+:\d+|https?:", "", form)
            assert not re.search("[^\u202f][;!?]|[^\u00a0]:|«[^\u00a0]|[^\u00a0]»", told), form


def test_german_has_one_word_for_sealing() -> None:
    said = [form for theme in THEMES for each in catalog.of(theme, "de").values() for form in forms(each).values()]
    assert not [form for form in said if re.search(r"gesiegelt|\bsiegeln", form)]
