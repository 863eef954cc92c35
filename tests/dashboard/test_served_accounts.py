"""Accounts of a served process: single sign-on at a real provider, passkeys in a browser, operators' commands."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import sync_playwright

from tests.chromium import launch
from tests.cli.service import Service, free_port, wait_until

pytestmark = pytest.mark.thorough

PASSWORD = "a long enough phrase"
PEOPLE = [
    {"sub": "ada", "email": "Ada@example.com", "email_verified": True, "name": "Ada Lovelace"},
    {"sub": "eve", "email": "eve@elsewhere.example", "email_verified": True},
    {"sub": "grace", "email": "grace@example.com", "email_verified": "true", "name": "Grace Hopper"},
]
# Values that providers send in place of ``false``, and values that are no answer at all.
UNVERIFIED = [False, "false", "False", "no", "0", "1", "True", "yes", "", 1, 0, None, [True], {"value": True}]
STRANGERS = [
    {"sub": f"mallory-{number}", "email": "owner@example.com", "email_verified": said}
    for number, said in enumerate(UNVERIFIED)
]


@contextmanager
def provider(port: int) -> Iterator[None]:
    """An OpenID Connect provider in a process of its own."""
    people = [part for person in [*PEOPLE, *STRANGERS] for part in ("--user-claims", json.dumps(person))]
    process = subprocess.Popen([sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *people])
    try:
        wait_until(lambda: _answers(f"http://localhost:{port}/.well-known/openid-configuration"))
        yield
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    port = free_port()
    with provider(port):
        served = Service(
            tmp_path_factory.mktemp("served") / "data",
            PARAPH_SSO_ISSUER=f"http://localhost:{port}",
            PARAPH_SSO_CLIENT_ID="paraph",
            PARAPH_SSO_CLIENT_SECRET="secret",
            PARAPH_SSO_NAME="Log in with Example ID",
            PARAPH_SSO_DOMAINS="example.com",
        )
        served.begin()
        yield served
        served.stop()


def member(service: Service, *arguments: str, password: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``paraph member`` with a password on its standard input; return its output and exit code."""
    return service.run("member", *arguments, given=f"{password}\n")


def sign_on(service: Service, name: str) -> httpx.Response:
    """Log in as this user of the provider; return the page at which they arrive."""
    with httpx.Client(base_url=service.base_url, follow_redirects=True, timeout=60) as browser:
        asked = browser.get("/account/oidc/sso/login/", follow_redirects=False)
        provider = asked.headers["Location"]
        assert "code_challenge" in provider and urlsplit(provider).hostname == "localhost"
        arrived = browser.post(provider, data={"sub": name})
        if arrived.status_code == 200:  # a logged-in user proves again who they are, and comes back
            asked = browser.get("/account/oidc/sso/login/?next=/account/sessions/", follow_redirects=False)
            assert browser.post(asked.headers["Location"], data={"sub": name}).url.path == "/account/sessions/"
        return arrived


def test_operators_make_list_and_remove_members(service: Service) -> None:
    made = service.command("member", "create", "--organization", "1", "--email", "Owner@example.com", "--role", "owner")
    assert (made["email"], made["role"]) == ("owner@example.com", "owner")
    page = httpx.get(made["link"], follow_redirects=True)
    assert page.status_code == 200 and 'name="password1"' in page.text
    options = ("create", "--organization", "1", "--email", "bob@example.com", "--role", "member", "--password-stdin")
    weak = member(service, *options, password="12345")
    assert weak.returncode == 1 and "too short" in weak.stderr
    assert member(service, *options, password=PASSWORD).returncode == 0
    listed = service.command("member", "list", "--organization", "1")
    assert [(row["email"], row["role"]) for row in listed] == [
        ("owner@example.com", "owner"),
        ("bob@example.com", "member"),
    ]
    last = member(service, "remove", "--organization", "1", "--email", "owner@example.com")
    assert last.returncode == 1 and "last owner" in last.stderr


def test_the_provider_opens_accounts_of_its_confirmed_addresses_alone(service: Service) -> None:
    login = httpx.get(f"{service.base_url}/account/login/").text
    assert "Log in with Example ID" in login
    for known, name in (("ada", "Ada Lovelace"), ("grace", "Grace Hopper")):
        arrived = sign_on(service, known)
        assert arrived.status_code == 200 and arrived.url.path == "/app/" and name in arrived.text
        kept = service.command("person", "show", f"{known}@example.com")["kept"]
        [account] = [each for each in kept if each["place"] == "accounts"]
        [told] = account["single_sign_on"]
        assert name in json.dumps(told["said"]) and account["sessions"]
    for stranger in ["eve", *[person["sub"] for person in STRANGERS]]:
        refused = sign_on(service, str(stranger))
        assert refused.status_code == 403 and "has not confirmed your address" in refused.text, stranger


def test_the_provider_sends_people_back_to_the_public_address(service: Service) -> None:
    """No Host header changes that address; else a provider that allows several would send the code elsewhere."""
    login = f"{service.base_url}/account/oidc/sso/login/"
    for host in ("evil.example", "localhost:1", urlsplit(service.base_url).netloc):
        asked = httpx.get(login, headers={"Host": host})
        [back] = parse_qs(urlsplit(asked.headers["Location"]).query)["redirect_uri"]
        assert back == f"{service.base_url}/account/oidc/sso/login/callback/"


def test_a_passkey_logs_in_without_a_password(service: Service) -> None:
    options = ["--organization", "1", "--email", "key@example.com", "--role", "observer"]
    made = service.command("member", "create", *options)
    base = service.base_url.replace("127.0.0.1", "localhost")  # a passkey belongs to a host name, not to an IP address
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        page = chromium.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        devtools = page.context.new_cdp_session(page)
        devtools.send("WebAuthn.enable")
        authenticator = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        devtools.send("WebAuthn.addVirtualAuthenticator", {"options": authenticator})
        page.goto(made["link"].replace("127.0.0.1", "localhost"))
        page.fill("[name=password1]", PASSWORD)
        page.fill("[name=password2]", PASSWORD)
        page.click("button[name=action]")
        page.wait_for_url(re.compile("/app/"))
        page.goto(f"{base}/account/2fa/webauthn/add/")
        if "reauthenticate" in page.url:
            page.fill("[name=password]", PASSWORD)
            page.click("button.primary")
        page.check("[name=passwordless]")
        page.click("#mfa_webauthn_add")
        page.wait_for_url(re.compile("/account/2fa/(webauthn|recovery-codes)/(?!add)"))
        page.context.clear_cookies()
        page.goto(f"{base}/account/login/")
        page.click("#passkey_login")
        page.wait_for_url(re.compile("/app/1/"))
        assert complaints == []
        chromium.close()
