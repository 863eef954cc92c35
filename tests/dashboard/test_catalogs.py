"""Dashboard and API speak seven languages: nothing is missing, untranslated, doubtful or unused."""

import gettext
import re
from pathlib import Path

import allauth
import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils import translation

from paraph import dashboard
from tests.dashboard.messages import CATALOGS, SOURCE, messages

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]


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
    with (Path(allauth.__file__).parent / "locale/pt_PT/LC_MESSAGES/django.po").open("rb") as file:
        theirs = {each.id: each.string for each in read_po(file, locale="pt") if isinstance(each.id, str) and each.id}
    with translation.override("pt"):
        english = [each for each in theirs if translation.gettext(each) == each != theirs[each]]
    assert len(theirs) > 300 and english == [], "copy it anew to dashboard/account/locale/pt"


@pytest.mark.parametrize("language", ["en", *(each for each in LANGUAGES if each != "pt")])  # Portuguese is a copy
def test_words_of_our_own_are_for_sentences_that_allauth_has(language: str) -> None:
    """Pages show our words too, which proves that the catalog was compiled anew."""
    folder = Path(dashboard.__file__).parent / f"account/locale/{language}/LC_MESSAGES"
    with (Path(allauth.__file__).parent / "locale/pt_PT/LC_MESSAGES/django.po").open("rb") as file:
        theirs = {each.id for each in read_po(file) if each.id}
    with (folder / "django.po").open("rb") as file:
        ours = [each for each in read_po(file, locale=language) if each.id]
    assert {each.id for each in ours} <= theirs, "allauth says it in other words now"
    with translation.override(language):
        for each in ours:
            ids = [each.id] if isinstance(each.id, str) else list(each.id)
            words = [each.string] if isinstance(each.string, str) else list(each.string or [])
            shown = [translation.ngettext(ids[0], ids[-1], number) for number in (1, 2)]
            said = [translation.gettext(ids[0])] if len(ids) == 1 else shown
            assert said == words and [names(each) for each in ids] == [names(each) for each in words]
