"""The link of an invitation: it explains, a button accepts, and every dead end has a way on."""

import re

import pytest
from django.core.cache import cache
from django.test import Client

from paraph.dashboard.members import mail_invitation
from paraph.kernel import clock
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import close_organization
from paraph.tenants.members import create_member, invite, withdraw_invitation
from paraph.tenants.models import Invitation, Member, Organization, Role, User
from tests.dashboard.conftest import PASSWORD, LogIn, account_mails


@pytest.fixture
def path(organization: Organization) -> str:
    """The link of Bob's invitation."""
    cache.clear()
    mail_invitation(invite(organization.pk, OPERATOR, "bob@example.com", Role.MEMBER))
    [mail] = account_mails()
    found = re.search(r"/invitations/\S+", mail.text)
    assert found
    return found[0]


def test_opening_the_link_changes_nothing(path: str) -> None:
    client = Client()
    for _ in range(2):
        page = client.get(path)
        assert page.status_code == 200 and "Join Analytical Engines" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert Invitation.objects.get().accepted_at is None and not User.objects.exists()


def test_a_newcomer_makes_an_account_although_registration_is_closed(path: str, organization: Organization) -> None:
    client = Client()
    asked = client.post(path)
    assert (asked.status_code, asked.headers["Location"]) == (
        303,
        f"/account/signup/?next=%2F{path[1:].replace('/', '%2F')}",
    )
    assert 'value="bob@example.com"' in client.get(asked.headers["Location"]).content.decode()
    made = client.post(asked.headers["Location"], {"name": "Bob", "password1": PASSWORD})
    assert (made.status_code, made.headers["Location"]) == (303, path)
    accepted = client.get(path)
    assert (accepted.status_code, accepted.headers["Location"]) == (303, f"/app/{organization.pk}/")
    member = Member.objects.select_related("user").get()
    assert (member.user.email, member.user.name, member.role) == ("bob@example.com", "Bob", Role.MEMBER)
    assert client.get(f"/app/{organization.pk}/").status_code == 200


def test_who_has_an_account_logs_in_first(path: str, organization: Organization) -> None:
    other = create_member(_another(), OPERATOR, "bob@example.com", Role.OWNER, password=PASSWORD)
    client = Client()
    asked = client.post(path)
    assert asked.headers["Location"].startswith("/account/login/?next=")
    entered = client.post(asked.headers["Location"], {"login": "bob@example.com", "password": PASSWORD})
    assert entered.headers["Location"] == path
    client.get(path)
    assert other.user.memberships.filter(organization=organization).exists()


def test_logging_in_alone_accepts_nothing(path: str) -> None:
    create_member(_another(), OPERATOR, "bob@example.com", Role.OWNER, password=PASSWORD)
    client = Client()
    client.post(f"/account/login/?next={path}", {"login": "bob@example.com", "password": PASSWORD})
    assert "Join Analytical Engines" in client.get(path).content.decode()
    assert Invitation.objects.get().accepted_at is None


def _another() -> int:
    return Organization.objects.create(name="Elsewhere", plan="free").pk


def test_the_wrong_account_reads_so_and_finds_the_way_out(path: str, log_in: LogIn) -> None:
    member, client = log_in()
    for answer in (client.get(path), client.post(path)):
        page = answer.content.decode()
        assert answer.status_code == 403
        assert f"is for bob@example.com. You are logged in as {member.user.email}." in page
    out = client.post("/account/logout/", {"next": path})
    assert (out.status_code, out.headers["Location"]) == (303, path)
    assert client.get(path).status_code == 200
    assert Invitation.objects.get().accepted_at is None


def test_expired_withdrawn_used_and_unknown_links_have_their_own_words(path: str, organization: Organization) -> None:
    client = Client()
    Invitation.objects.update(expires_at=clock.now())
    assert _words(client, path) == (410, "Invitation expired")
    Invitation.objects.update(accepted_at=clock.now())
    assert _words(client, path) == (410, "Already accepted")
    Invitation.objects.update(accepted_at=None)
    withdraw_invitation(organization.pk, OPERATOR, Invitation.objects.get().pk)
    assert _words(client, path) == (410, "Invitation withdrawn")
    assert client.post(path).status_code == 410
    assert _words(client, "/invitations/unknown") == (404, "Unknown invitation")
    assert not User.objects.exists()


def test_an_invitation_ends_with_its_organization(path: str, organization: Organization) -> None:
    close_organization(organization.pk, OPERATOR)
    assert _words(Client(), path) == (404, "Unknown invitation")


def _words(client: Client, path: str) -> tuple[int, str]:
    page = client.get(path)
    found = re.search("<h1>(.*?)</h1>", page.content.decode())
    assert found and 'class="button' in page.content.decode()
    return page.status_code, found[1]
