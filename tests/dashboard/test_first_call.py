"""From a sandbox key to a sealed PDF: steps that turn green by themselves, and what webhooks state."""

import json
import os
import re
import subprocess
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from paraph.dashboard.applications.deliveries import first_request
from paraph.kernel import clock
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.applications import NewApplication
from paraph.tenants.limits import admit
from paraph.tenants.models import Application, Organization, Role, User
from paraph.webhooks.outbox import release
from tests.dashboard.conftest import just_logged_in
from tests.factories import Scene, seal_everything, sign
from tests.tenancy import create_application
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db
BY_SCRIPT = {"HX-Request": "true"}


@pytest.fixture
def made() -> Scene:
    return told(webhook_url="", signers=1)[0]


@pytest.fixture
def client(made: Scene) -> Client:
    return just_logged_in(made.request.organization, Role.ADMIN)


def address(made: Scene, rest: str = "first-call") -> str:
    return f"/app/{made.request.organization_id}/applications/{made.request.application_id}/{rest}"


def part(client: Client, made: Scene) -> str:
    """What the page's script puts in the place of its progress."""
    return unescape(client.get(address(made), headers=BY_SCRIPT).content.decode())


def done(page: str) -> int:
    return page.count('<li class="done">')


def test_the_page_that_shows_a_key_turns_green_once_it_is_used(organization: Organization) -> None:
    client = just_logged_in(organization, Role.OWNER)
    pages = f"/app/{organization.pk}/applications"
    page = client.post(f"{pages}/new", {"name": "new", "environment": "sandbox", "webhook_url": ""}).content.decode()
    new = Application.objects.get()
    asks = f'hx-get="{pages}/{new.pk}/used" hx-trigger="every 2s"'
    assert asks in page and f'href="{pages}/{new.pk}/first-call"' in page
    listed, waiting = client.get(pages).content.decode(), client.get(f"{pages}/{new.pk}/used").content.decode()
    for unused in (listed, waiting):
        assert asks in unused and '<span class="status">Never</span>' in unused
    found = re.search(r'data-secret="api_key">([0-9a-f]{64})<', page)
    assert found and admit(found[1])
    for used in (client.get(pages).content.decode(), client.get(f"{pages}/{new.pk}/used").content.decode()):
        assert "hx-get" not in used and '<span class="status active"><time' in used


def test_a_page_that_stays_open_stops_asking(organization: Organization) -> None:
    client = just_logged_in(organization, Role.OWNER)
    new = create_application(organization.pk, "sandbox", "old").application
    Application.objects.update(created_at=clock.now() - timedelta(hours=2))
    for rest in ("", f"/{new.pk}/used", f"/{new.pk}/first-call"):
        assert "hx-get" not in client.get(f"/app/{organization.pk}/applications{rest}").content.decode()


def test_steps_turn_green_as_they_are_done(made: Scene, client: Client) -> None:
    page = part(client, made)
    link = f"/app/{made.request.organization_id}/requests/{made.request.pk}/signers/{made.signers[0].pk}/link"
    assert done(page) == 1 and f'action="{link}"' in page and "hx-get" in page and "<html" not in page
    shown = client.post(link).content.decode()
    assert f'href="{signing_url(made.signers[0])}"' in shown and "also shows the code" in shown
    sign(made)
    page = part(client, made)
    assert done(page) == 2 and "action=" not in page and "hx-get" in page
    seal_everything(made.request)
    release(made.request.pk)
    SignatureRequest.objects.update(finalized=True)
    page = part(client, made)
    assert done(page) == 3 and "hx-get" not in page
    assert "nothing is sent" in page and "X-Service-Signature: sha256=" in page
    assert '"event":"request.completed"' in page and '"certificate_url":"http' in page


def test_the_script_gets_nothing_while_nothing_has_changed(made: Scene, client: Client) -> None:
    asked = re.search(r'hx-get="([^"]+\?seen=[^"]+)"', part(client, made))
    assert asked
    assert client.get(asked[1], headers=BY_SCRIPT).status_code == 204
    assert "<html" in client.get(asked[1]).content.decode(), "a reload is no question of the script"
    sign(made)
    assert client.get(asked[1], headers=BY_SCRIPT).status_code == 200


def test_only_its_own_requests_are_shown(made: Scene, client: Client) -> None:
    other = create_application(made.request.organization_id, "sandbox", "other").application
    page = client.get(f"/app/{made.request.organization_id}/applications/{other.pk}/first-call").content.decode()
    assert done(page) == 0 and "/link" not in page
    with_url, _ = told()
    assert client.get(address(with_url)).status_code == 404


def test_production_has_none(organization: Organization) -> None:
    new: NewApplication = create_application(organization.pk, "production", "live")
    client = just_logged_in(organization, Role.OWNER)
    page = f"/app/{organization.pk}/applications/{new.application.pk}"
    assert client.get(f"{page}/first-call").status_code == 404
    assert "first-call" not in client.get(page).content.decode()


@pytest.mark.parametrize("name", ["", "Ada", "Ada King Byron", "Conan O'Brien", 'Eve "$(exit 9)" `x` \\ DOCUMENT'])
def test_the_lines_say_what_the_api_takes_whatever_the_member_is_called(name: str, tmp_path: Path) -> None:
    """A shell reads them, with programs in the place of curl that answer like the service."""
    lines = first_request("http://localhost:8000/api/v1", User(name=name, email="me@example.com"))
    curl = tmp_path / "curl"
    curl.write_text('#!/bin/sh\ncase "$*" in *documents*-F*) echo \'{"id": 7}\';; *) printf %s "$7" ;; esac\n')
    curl.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "KEY": "key"}
    ran = subprocess.run(["bash", "-euc", lines], env=environment, capture_output=True, text=True, check=True)
    sent = json.loads(ran.stdout)["signature_request"]
    assert sent["documents"][0]["id"] == 7 and sent["signers"][0]["email"] == "me@example.com"
    signer = sent["signers"][0]
    assert not name or f"{signer['first_name']} {signer['last_name']}".startswith(name)


def test_nobody_is_asked_to_sign_as_another_person(made: Scene, client: Client) -> None:
    assert "Open your signing page</button>" not in part(client, made) and "Show the signing link</button>" in part(
        client, made
    )
    Signer.objects.update(email=User.objects.get().email.upper())
    assert "Open your signing page</button>" in part(client, made)
