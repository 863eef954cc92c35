"""Members of an organization in every role, and the browsers in which they are logged in."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from html import unescape
from typing import Any

import pytest
from allauth.account.internal.flows.login import record_authentication
from django.conf import settings as service
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory

from paraph.account_mail.mail_account import mail_account
from paraph.dashboard.account.sessions import SessionStore, cookie_of, key_of
from paraph.drafts.models import Draft
from paraph.kernel import places
from paraph.messaging.models import CapturedMessage
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member
from paraph.tenants.models import Member, Organization, Role, User
from tests import factories
from tests.api.v1.api_clients import CONTRACT
from tests.factories import Scene, jobs
from tests.kernel.test_places import in_thread
from tests.tenancy import create_organization

MemberClient = tuple[Member, Client]
LogIn = Callable[..., MemberClient]
PASSWORD = "a long enough phrase"


class BrowserClient(Client):
    """A client with the dashboard's cookies; Django's own client takes a cookie for the key of its session."""

    def force_login(self, user: Any, backend: str | None = None) -> None:
        super().force_login(user, backend)
        self.cookies[service.SESSION_COOKIE_NAME] = cookie_of(self.cookies[service.SESSION_COOKIE_NAME].value)

    @property
    def session(self) -> SessionBase:
        """The session of the cookie; without a cookie, a new session, whose cookie is set."""
        cookie = self.cookies.get(service.SESSION_COOKIE_NAME)
        if cookie:
            return SessionStore(key_of(cookie.value))
        session = SessionStore()
        session.save()
        assert session.session_key
        self.cookies[service.SESSION_COOKIE_NAME] = cookie_of(session.session_key)
        return session


def proved(client: Client, seconds_ago: float = 0, method: str = "password", **facts: str) -> Client:
    """Return the logged-in client, as if its member had proved who they are ``seconds_ago``."""
    request = RequestFactory().get("/")
    request.session = client.session
    record_authentication(request, get_user(request), method, **facts)
    for record in request.session["account_authentication_methods"]:
        record["at"] -= seconds_ago
    request.session.save()
    return client


def just_logged_in(organization: Organization, role: str, email: str = "") -> Client:
    """Return the browser of a new member who has just logged in by their password."""
    email = email or f"fresh-{role}-{organization.pk}@example.com"
    create_member(organization.pk, OPERATOR, email, role, password=PASSWORD)
    client = BrowserClient()
    assert client.post("/account/login/", {"login": email, "password": PASSWORD}).status_code == 303
    return client


def account_mails() -> list[CapturedMessage]:
    """Run the waiting jobs that mail about accounts, which stay in the queue; return all captured mails."""
    for task, arguments in jobs():
        if task == "mail_account":
            mail_account(arguments["sealed"])
    return list(CapturedMessage.objects.order_by("pk"))


def pdf(content: bytes = CONTRACT, name: str = "contract.pdf", content_type: str = "application/pdf") -> Any:
    """A file as forms send it."""
    return SimpleUploadedFile(name, content, content_type)


def read(answer: Any, status: int = 200) -> str:
    """Return the unescaped page of the answer, which must have this status."""
    page: str = unescape(answer.content.decode())
    assert answer.status_code == status, page
    return page


def rows_of(page: str) -> list[int]:
    """Return the ids of the rows in the page's tables."""
    return [int(found) for found in re.findall(r'<tr data-id="(\d+)"', page)]


@contextmanager
def no_place_left(organization_id: int) -> Iterator[None]:
    """Leave no place for expensive work of the organization while the block runs."""
    with pytest.MonkeyPatch.context() as patched, ExitStack() as held:
        patched.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.05)
        places.configure(8)
        try:
            in_thread(lambda: held.enter_context(places.expensive_work(str(organization_id))))
            yield
        finally:
            held.close()
            places.configure(None)


def scene(**described: Any) -> Scene:
    """Return a scene of production, which every member sees."""
    return factories.scene(**{"environment": "production"} | described)


@pytest.fixture(autouse=True)
def _quick_hashes(settings: Any) -> None:
    """Real password hashes take a tenth of a second each; served processes use them (test_served_accounts.py)."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def nothing_counted(db: None) -> Iterator[None]:
    """Forget what rate limits have counted, so that no attempt of another test counts."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def organization(db: None) -> Organization:
    return create_organization("Analytical Engines", "pro")


@pytest.fixture
def log_in(organization: Organization) -> LogIn:
    """Return a function that makes a member with a role, of this or another organization, and their browser."""

    def log_in(role: str = Role.OWNER, *, at: Organization = organization) -> MemberClient:
        user = User.objects.create(email=f"{role}-{at.pk}-{User.objects.count()}@example.com")
        member = Member.objects.create(organization=at, user=user, role=role)
        client = BrowserClient()
        client.force_login(user)
        return member, client

    return log_in


@pytest.fixture
def client(log_in: LogIn) -> Client:
    """The browser of an owner."""
    return log_in()[1]


@pytest.fixture
def draft(client: Client, organization: Organization) -> Draft:
    """A draft with one signer and one stamp."""
    from tests.dashboard.test_drafts import ready

    return ready(client, organization)[1]


@pytest.fixture
def address(draft: Draft) -> str:
    """The address of the draft, without its step."""
    return f"/app/{draft.organization_id}/drafts/{draft.pk}"
