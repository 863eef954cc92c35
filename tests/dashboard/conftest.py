"""Members of an organization in every role, logged in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from paraph.tenants.models import Member, Organization, Role, User
from tests.dashboard.browser_client import BrowserClient
from tests.tenancy import create_organization

MemberClient = tuple[Member, Client]


@pytest.fixture(autouse=True)
def _quick_hashes(settings: Any) -> None:
    """The real ones take a tenth of a second each; served processes have them (test_served_accounts.py)."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def nothing_counted(db: None) -> Iterator[None]:
    """No attempt of another test counts."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def organization(db: None) -> Organization:
    return create_organization("Analytical Engines", "pro")


@pytest.fixture
def log_in(organization: Organization) -> Callable[..., MemberClient]:
    """Makes a member with a role, of the organization or another, and a browser that is logged in as them."""

    def log_in(role: str = Role.OWNER, *, at: Organization = organization) -> MemberClient:
        user = User.objects.create(email=f"{role}-{at.pk}-{User.objects.count()}@example.com")
        member = Member.objects.create(organization=at, user=user, role=role)
        client = BrowserClient()
        client.force_login(user)
        return member, client

    return log_in
