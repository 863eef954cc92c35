"""Messages follow Accept-Language; codes and paths never change (rule 7)."""

import ast
import gettext
import re
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

import paraph
from tests.api.v1.api_clients import ApiClient, error, payload
from tests.dashboard.messages import ROOMS
from tests.dashboard.messages import messages as of_the_dashboard

SOURCE = Path(paraph.__file__).parent
CATALOGS = SOURCE / "api" / "locale"
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]


@cache
def messages() -> set[str]:
    """Every message that the code has translated, but for those that only pages of the dashboard show."""
    found: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        if "gettext" in file.read_text() and set(ROOMS).isdisjoint(file.parents):
            calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
            for call in calls:
                if isinstance(call.func, ast.Name) and call.func.id in ("_", "ngettext"):
                    found.add(ast.literal_eval(call.args[0]))
    return found - {message for message, _ in of_the_dashboard()}


def names(text: str) -> list[str]:
    return sorted(re.findall(r"%\((\w+)\)[sd]", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated_with_its_placeholders(language: str) -> None:
    catalog = gettext.translation("django", CATALOGS, [language])
    wanted = messages()
    assert len(wanted) > 60
    for message in wanted:
        for count in (1, 2):
            translated = catalog.ngettext(message, message, count)
            one = catalog.gettext(message) if translated == message else translated
            assert one != message, message
            assert names(one) == names(message)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalog_is_that_of_the_text(language: str) -> None:
    text = (CATALOGS / language / "LC_MESSAGES" / "django.po").read_text()
    written = [ast.literal_eval(line) for line in re.findall(r'^msgstr(?:\[\d\])? (".+")$', text, re.MULTILINE)]
    compiled = (CATALOGS / language / "LC_MESSAGES" / "django.mo").read_bytes().decode(errors="replace")
    assert len(written) > 60
    assert [line for line in written if line and line not in compiled] == []


def test_the_language_of_the_call(owner: ApiClient) -> None:
    cases: list[tuple[str, str]] = [
        ("fr", "Cette ressource n’existe pas."),
        ("de-AT, en;q=0.5", "Diese Ressource gibt es nicht."),
        ("es", "Este recurso no existe."),
        ("it", "Questa risorsa non esiste."),
        ("pt-BR", "Este recurso não existe."),
        ("nl", "Deze bron bestaat niet."),
        ("ja", "There is no such resource."),
        ("rubbish;;q=x", "There is no such resource."),
    ]
    for accepted, message in cases:
        owner.headers["Accept-Language"] = accepted
        assert error(owner.get("/documents/1"), 404, "not_found") == message


def test_paths_and_values_stay(owner: ApiClient) -> None:
    owner.headers["Accept-Language"] = "fr"
    message = error(owner.create(payload(0, validity_days=91)), 422, "validation_error")
    assert "validity_days: la valeur doit être comprise entre 1 et 90, pas 91." in message


def test_the_mime_type_is_named_in_the_language(owner: ApiClient) -> None:
    owner.headers["Accept-Language"] = "de"
    message = error(owner.upload(content_type="image/png"), 422, "validation_error")
    assert message == "Die Datei muss vom MIME-Typ application/pdf sein, nicht „image/png“."
