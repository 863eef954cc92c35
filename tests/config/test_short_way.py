"""The API's short way gives what the long one would."""

import pytest
from django.test import Client

from tests.api.v1.cast import Someone, someone

pytestmark = pytest.mark.django_db


def test_the_headers_of_the_framework_stay() -> None:
    response = someone().get("/health")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert (response["Vary"], response["Content-Language"]) == ("Accept-Language", "en")
    assert response["X-Request-Id"]


def test_the_language_is_the_callers_and_not_that_of_the_call_before() -> None:
    french = Someone(None, headers={"Accept-Language": "fr"}).get("/health")
    assert french["Content-Language"] == "fr" and "en-tête" in french.json()["error"]["message"]
    assert Someone(None).get("/health")["Content-Language"] == "en"


@pytest.mark.parametrize("path", ["/api/v10", "/api", "/api/v1x/health"])
def test_what_only_looks_like_the_api_is_not_answered_by_it(path: str) -> None:
    assert "error" not in Client().get(path).content.decode()
