"""What the scripts of a signing page say, in a file of its own."""

import json
import re

import pytest
from django.test import Client

from paraph import words
from paraph.signer.scripts import words_address
from tests.factories import scene


@pytest.mark.django_db
def test_the_page_names_the_file_in_its_version(client: Client) -> None:
    made = scene()
    for locale in ("en", "ar"):
        page = client.get(made.url(), {"lang": locale}).content.decode()
        assert f'<script src="{words_address(locale)}" defer>' in page
    assert words_address("en").partition("?")[2] != words_address("ar").partition("?")[2]


@pytest.mark.parametrize("locale", words.LOCALES)
def test_the_file(client: Client, locale: str) -> None:
    """In every language, kept for long, without anything of a request."""
    response = client.get(f"/sign/words/{locale}.js")
    assert response["Content-Type"] == "text/javascript; charset=utf-8"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    found = re.fullmatch(r'"use strict";\nconst words = (\{.*\});\n', response.content.decode())
    assert found
    said = json.loads(found.group(1))
    of_page = words.of("page", locale)
    assert said["sealed"] == of_page["sealed"] and of_page["signed_title"] in said["done"]


def test_no_other_language_and_no_other_method(client: Client) -> None:
    assert client.get("/sign/words/xx.js").status_code == 404
    assert client.post("/sign/words/en.js").status_code == 405
