"""What all pages of the dashboard share: headers, pages that say what went wrong, answers to forms."""

from collections.abc import Callable

import pytest
from django.test import Client

from paraph.dashboard.middleware import POLICY
from tests.dashboard.browser_client import BrowserClient
from tests.dashboard.conftest import MemberClient


def test_pages_load_from_nowhere_else_and_are_framed_by_nobody(log_in: Callable[..., MemberClient]) -> None:
    member, client = log_in()
    for address in (f"/app/{member.organization_id}/", "/account/", "/account/login/", "/app/nowhere"):
        headers = client.get(address).headers
        assert headers["Content-Security-Policy"] == POLICY
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin"
        assert "no-store" in headers["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/nowhere", "/app/nowhere"])
def test_an_unknown_address_answers_in_the_same_look(address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 404
    assert "Page not found" in response.content.decode()
    assert not response.cookies


def test_an_id_that_no_organization_can_have_is_unknown(log_in: Callable[..., MemberClient]) -> None:
    _, client = log_in()
    assert client.get("/app/999999999999999999999/").status_code == 404


def test_a_form_without_the_token_of_its_page_is_refused(log_in: Callable[..., MemberClient]) -> None:
    member, _ = log_in()
    client = BrowserClient(enforce_csrf_checks=True)
    client.force_login(member.user)
    response = client.post("/account/", {"name": "Ada"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


def test_a_form_answers_303_or_422_with_the_errors_twice(log_in: Callable[..., MemberClient]) -> None:
    _, client = log_in()
    taken = client.post("/account/", {"name": "Ada", "language": "fr"})
    assert (taken.status_code, taken.headers["Location"]) == (303, "/account/")
    refused = client.post("/account/", {"name": "x" * 201, "language": "tlh"})
    page = refused.content.decode()
    assert refused.status_code == 422
    assert 'role="alert"' in page
    assert 'href="#id_name"' in page
    assert 'aria-describedby="id_name_error"' in page
    assert 'id="id_name_error"' in page


@pytest.mark.parametrize(
    "address",
    [
        "/account/login/",
        "/account/logout/",
        "/account/signup/",
        "/account/first/owner/",
        "/account/password/reset/",
        "/account/password/change/",
        "/account/email/",
        "/account/reauthenticate/",
        "/account/sessions/",
        "/account/2fa/totp/activate/",
        "/account/2fa/recovery-codes/generate/",
        "/account/2fa/webauthn/add/",
        "/account/2fa/webauthn/login/",
        "/app/new",
    ],
)
def test_no_form_is_taken_without_its_token(log_in: Callable[..., MemberClient], address: str) -> None:
    member, _ = log_in()
    client = BrowserClient(enforce_csrf_checks=True)
    client.force_login(member.user)
    response = client.post(address, {"email": "eve@example.com"})
    assert response.status_code == 403 and "This form has expired" in response.content.decode()
