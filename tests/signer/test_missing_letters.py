"""A signer whose name no font has is told so beside the preview of the stamp."""

from pathlib import Path

import pytest
from django.test import Client

from paraph.pdf.typesetting import fonts
from paraph.signer import language
from paraph.words import LOCALES
from tests.factories import scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = fonts.open_library(tmp_path, system_folders=())
    monkeypatch.setattr("paraph.pdf.typesetting.glyph_fallback.library", lambda: library)


@pytest.mark.usefixtures("_bare")
def test_in_their_language(client: Client) -> None:
    made = scene(signer={"first_name": "愛子", "last_name": "田中", "email": "aiko@example.com"})
    for locale in LOCALES:
        page = client.get(f"{made.url()}?lang={locale}").content.decode()
        told = language.words(locale)["missing_letters"].split("{name}")[0].partition("{written}")[0]
        assert told.replace("'", "&#x27;") in page and "<bdi>aiko@example.com</bdi>" in page, locale


@pytest.mark.usefixtures("_bare")
def test_other_names_are_not_spoken_of(client: Client) -> None:
    made = scene(signer={"first_name": "Zoë", "last_name": "Łukasiewicz"})
    assert 'class="told"' not in client.get(made.url()).content.decode()
