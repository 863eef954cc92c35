"""The link of the first start makes the first owner, once, within an hour."""

import re
import time
from urllib.parse import urlsplit

import pytest
from django.core import signing
from django.test import Client

from paraph.tenants.accounts import password_link
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member, first_owner_link
from paraph.tenants.models import Member, Organization, Role
from tests.tenancy import create_organization

GIVEN = {"organization": "Harbour Homes", "name": "Ada", "email": "Ada@example.com", "password": "a long enough phrase"}


def test_the_first_owner_comes_straight_to_the_organization(organization: Organization) -> None:
    create_organization("Another", "free")
    client, address = Client(), urlsplit(first_owner_link()).path
    assert client.get(address).status_code == 200
    assert client.post(address, GIVEN | {"password": "12345"}).status_code == 422
    weak = client.post(address, GIVEN | {"password": "password1"}).content.decode()
    beside = weak.partition('name="password"')[2].partition("</form>")[0]
    assert "too common" in beside, "at its field"
    focused = [field for field in re.findall("<input[^>]*>", weak) if "autofocus" in field]
    assert len(focused) == 1 and 'name="password"' in focused[0]
    assert not Member.objects.exists()
    made = client.post(address, GIVEN)
    assert (made.status_code, made["Location"]) == (303, f"/app/{organization.pk}/")
    assert client.get(made["Location"]).status_code == 200
    owner = Member.objects.get()
    assert (owner.role, owner.user.email, owner.user.name) == (Role.OWNER, "ada@example.com", "Ada")
    organization.refresh_from_db()
    assert organization.name == "Harbour Homes", "what signers read"
    assert first_owner_link() == ""
    for late in (Client().get(address), Client().post(address, GIVEN | {"email": "eve@example.com"})):
        assert late.status_code == 410
    assert Member.objects.count() == 1


def test_a_link_ends_after_an_hour(organization: Organization, monkeypatch: pytest.MonkeyPatch) -> None:
    address = urlsplit(first_owner_link()).path
    late = time.time() + 3660
    monkeypatch.setattr(time, "time", lambda: late)
    assert Client().post(address, GIVEN).status_code == 410
    assert not Member.objects.exists()


def test_a_forged_link_makes_nobody(organization: Organization) -> None:
    for token in ("owner", "owner:1:abc", signing.TimestampSigner(salt="another").sign("owner")):
        assert Client().post(f"/account/first/{token}/", GIVEN).status_code == 410
    assert not Member.objects.exists()


def test_a_link_to_a_password_works_once(organization: Organization) -> None:
    user = create_member(organization.pk, OPERATOR, "bob@example.com", Role.MEMBER).user
    link = urlsplit(password_link(user)).path
    client = Client()
    form = client.get(link, follow=True).request["PATH_INFO"]
    done = client.post(form, {"password1": "a long enough phrase", "password2": "a long enough phrase"})
    assert done["Location"] == "/app/", "and logged in"
    assert "This link no longer works" in Client().get(link, follow=True).content.decode()
