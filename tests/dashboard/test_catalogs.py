"""Dashboard and API speak seven languages: nothing that templates and code say is missing, untranslated, doubtful or
unused."""

import ast
import gettext
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import allauth
import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils import translation
from django.utils.translation.template import templatize

import paraph

SOURCE = Path(paraph.__file__).parent
CATALOGS = SOURCE / "dashboard" / "locale"
ROOMS = [SOURCE / room for room in ("dashboard", "drafts", "request_templates")]
SHARED = [file for room in ("flow", "tenants", "webhooks") for file in sorted((SOURCE / room).rglob("*.py"))]
SHARED.append(SOURCE / "signature_requests/fields/kinds.py")
"""Files whose messages stand in the catalog of dashboard or API: Django reads both as one."""

LABELS = [SOURCE / noun / "models.py" for noun in ("tenants", "signature_requests", "webhooks")]
_CALL = re.compile(
    r"""\b(n?gettext|_)\(u?((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),?\s*(?:u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))?)"""
)

Message = tuple[str, str]  # a message and its plural, "" where it has none


@cache
def messages() -> set[Message]:
    """Return the messages in English, without shared ones that the catalogs of the API translate."""
    files = [*LABELS, *(file for room in ROOMS for file in sorted(room.rglob("*")))]
    shared = {message for file in SHARED for message in _of(file)}
    of_the_api = (SOURCE / "api" / "locale" / "de" / "LC_MESSAGES" / "django.po").read_text()
    elsewhere = {message for message in shared if json.dumps(message[0], ensure_ascii=False) in of_the_api}
    return {message for file in files for message in _of(file)} | (shared - elsewhere)


def _of(file: Path) -> Iterator[Message]:
    if file.suffix == ".py":
        yield from _calls(ast.parse(file.read_text()))
    elif file.suffix in (".html", ".txt"):
        for found in _CALL.finditer(templatize(file.read_text(), origin=str(file))):
            yield from _calls(ast.parse(f"{found[1]}({found[2]})"))


def _calls(tree: ast.AST) -> Iterator[Message]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, texts = node.func.id, node.args
            if name in ("_", "gettext", "gettext_lazy", "gettext_noop", "N_"):
                yield ast.literal_eval(texts[0]), ""
            elif name in ("ngettext", "ngettext_lazy"):
                yield ast.literal_eval(texts[0]), ast.literal_eval(texts[1])


LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
OF_ALLAUTH = Path(allauth.__file__).parent / "locale"
rooms = pytest.mark.parametrize("folder", [CATALOGS, SOURCE / "api" / "locale"], ids=["dashboard", "api"])


def catalog(language: str, folder: Path = CATALOGS) -> Catalog:
    with (folder / language / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file, locale=language)


def names(text: str) -> set[str]:
    return set(re.findall(r"%\((\w+)\)[sd]", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_holds_what_is_said_and_nothing_else(language: str) -> None:
    held = {(each.id, "") if isinstance(each.id, str) else tuple(each.id) for each in catalog(language) if each.id}
    assert held == messages()


@rooms
@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_is_translated_with_its_placeholders(language: str, folder: Path) -> None:
    for each in catalog(language, folder):
        texts = [each.string] if isinstance(each.string, str) else list(each.string or [])
        assert not each.fuzzy and all(texts), each.id
        wanted = [each.id] if isinstance(each.id, str) else list(each.id)
        assert names(texts[-1]) == names(wanted[-1]), each.id


@rooms
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalog_is_that_of_the_text(language: str, folder: Path) -> None:
    with (folder / language / "LC_MESSAGES" / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for each in catalog(language, folder):
        if each.id and isinstance(each.id, str):
            said = compiled.pgettext(each.context, each.id) if each.context else compiled.gettext(each.id)
            assert said == each.string


def test_allauth_speaks_portuguese_as_well() -> None:
    """Its catalog is named pt_PT, so the service keeps a copy, which must be that of the installed version."""
    theirs = {each.id: each.string for each in catalog("pt_PT", OF_ALLAUTH) if isinstance(each.id, str) and each.id}
    with translation.override("pt"):
        english = [each for each in theirs if translation.gettext(each) == each != theirs[each]]
    assert len(theirs) > 300 and english == [], "copy it anew to dashboard/account/locale/pt"


@pytest.mark.parametrize("language", ["en", *(each for each in LANGUAGES if each != "pt")])  # Portuguese is a copy
def test_words_of_our_own_are_for_sentences_that_allauth_has(language: str) -> None:
    """Pages show our words too, which proves that the catalog was compiled anew."""
    ours = [each for each in catalog(language, SOURCE / "dashboard/account/locale") if each.id]
    theirs = {each.id for each in catalog("pt_PT", OF_ALLAUTH)}
    assert {each.id for each in ours} <= theirs, "allauth says it in other words now"
    german = {each.id for each in catalog("de", SOURCE / "dashboard/account/locale") if each.id}
    assert german <= {each.id for each in ours}, "such as for how long nobody is asked again"
    with translation.override(language):
        for each in ours:
            ids = [each.id] if isinstance(each.id, str) else list(each.id)
            words = [each.string] if isinstance(each.string, str) else list(each.string or [])
            shown = [translation.ngettext(ids[0], ids[-1], number) for number in (1, 2)]
            said = [translation.gettext(ids[0])] if len(ids) == 1 else shown
            assert said == words and [names(each) for each in ids] == [names(each) for each in words]
