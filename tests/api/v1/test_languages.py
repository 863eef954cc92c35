"""Messages follow Accept-Language; codes and paths never change (rule 7)."""

import ast
from functools import cache

import pytest

from tests.api.v1.api_clients import ApiClient, error, invalid, payload
from tests.dashboard.messages import ROOMS, SOURCE
from tests.dashboard.messages import messages as of_the_dashboard
from tests.dashboard.test_catalogs import LANGUAGES, catalog

CATALOGS = SOURCE / "api" / "locale"


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_in_the_catalog(language: str) -> None:
    """And said in another way than in English; tests/dashboard/test_catalogs.py compares the rest."""
    said = {each.id if isinstance(each.id, str) else each.id[0]: each for each in catalog(language, CATALOGS)}
    assert len(messages()) > 60 and messages() - said.keys() == set()
    assert [message for message in messages() if said[message].string in (message, said[message].id)] == []


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
    message = invalid(owner.create(payload(0, validity_days=91)))
    assert "validity_days: la valeur doit être comprise entre 1 et 90, pas 91." in message


def test_the_mime_type_is_named_in_the_language(owner: ApiClient) -> None:
    owner.headers["Accept-Language"] = "de"
    message = invalid(owner.upload(content_type="image/png"))
    assert message == "Die Datei muss vom MIME-Typ application/pdf sein, nicht „image/png“."
