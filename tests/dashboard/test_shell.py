"""What all pages of the dashboard share: headers, pages that say what went wrong, answers to forms, tags, weight."""

import gzip
from pathlib import Path
from typing import Any

import django_htmx
import pytest
from django.test import Client

import paraph
from paraph.dashboard.middleware import POLICY
from paraph.dashboard.templatetags.dashboard import browser_name, mail_address
from paraph.tenants.models import Organization
from tests.dashboard.conftest import LogIn, read

_MOZILLA = "Mozilla/5.0"


def test_the_start_leads_to_the_dashboard(log_in: LogIn, organization: Organization) -> None:
    assert Client().get("/", follow=True).request["PATH_INFO"] == "/account/login/"
    _, client = log_in()
    assert client.get("/", follow=True).request["PATH_INFO"] == f"/app/{organization.pk}/"
    assert organization.name in read(client.get(f"/app/{organization.pk}/"))


def test_no_other_door_sets_a_cookie() -> None:
    for address in ("/docs", "/sign/unknown", "/api/v1/openapi.json"):
        assert not Client().get(address).cookies


def test_pages_load_from_nowhere_else_and_are_framed_by_nobody(log_in: LogIn) -> None:
    member, client = log_in()
    wanted = {"Content-Security-Policy": POLICY, "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"}
    for address in (f"/app/{member.organization_id}/", "/account/", "/account/login/", "/app/nowhere"):
        headers = client.get(address).headers
        assert {name: headers[name] for name in wanted} == wanted and "no-store" in headers["Cache-Control"]


def test_an_unknown_address_answers_in_the_same_look(client: Client) -> None:
    for address in ("/nowhere", "/app/nowhere"):
        answer = Client().get(address)
        assert "Page not found" in read(answer, 404) and not answer.cookies
    assert client.get("/app/999999999999999999999/").status_code == 404, "an id that no organization can have"


def test_a_form_answers_303_or_422_with_the_errors_twice(client: Client) -> None:
    taken = client.post("/account/", {"name": "Ada", "language": "fr"})
    assert (taken.status_code, taken.headers["Location"]) == (303, "/account/")
    page = read(client.post("/account/", {"name": "x" * 201, "language": "tlh"}), 422)
    assert 'role="alert"' in page and 'href="#id_name"' in page
    assert 'aria-describedby="id_name_error"' in page and 'id="id_name_error"' in page


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"{_MOZILLA} (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox, Linux"),
        (f"{_MOZILLA} (Windows NT 10.0) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0", "Edge, Windows"),
        (f"{_MOZILLA} (Linux; Android 15) AppleWebKit/537.36 Chrome/141.0 Mobile Safari/537.36", "Chrome, Android"),
        (f"{_MOZILLA} (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/18.6 Safari/604.1", "Safari, iPhone"),
        (f"{_MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) Version/18.6 Safari/605.1.15", "Safari, macOS"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
    ],
)
def test_a_browser_has_the_name_that_people_know(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name


def test_long_addresses_break_after_their_at_sign() -> None:
    assert mail_address("owner@lighthouse.example") == "owner@<wbr>lighthouse.example"
    assert mail_address("ada@example.com") == "ada@example.com"
    assert mail_address("<b>@lighthouse-keepers.example") == "&lt;b&gt;@<wbr>lighthouse-keepers.example"


def test_members_read_that_mails_reach_nobody_until_something_sends_them(log_in: LogIn, settings: Any) -> None:
    member, client = log_in()
    nothing = settings.PARAPH
    for gateway in ({}, {"smtp_url": "smtp://localhost"}, {"mail_provider": "mailgun"}):
        settings.PARAPH = nothing.model_copy(update=gateway)
        page = read(client.get(f"/app/{member.organization_id}/members"))
        assert ("paraph inbox" in page) is (not gateway), gateway


def test_all_scripts_and_styles_together_are_light() -> None:
    """Each file is compressed by itself, as browsers load it."""
    ours = Path(paraph.__file__).parent / "dashboard/static/dashboard"
    htmx = Path(django_htmx.__file__).parent / "static/django_htmx/htmx-2.min.js"
    files = [htmx, *ours.rglob("*.js"), *ours.rglob("*.css")]
    assert len(files) > 10
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) <= 60 * 1024
