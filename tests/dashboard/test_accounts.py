"""Logging in and out, passwords, addresses, sessions: nothing tells whether an address has an account."""

import base64
import hmac
import re
import struct
import time
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.core import signing
from django.core.cache import cache
from django.test import Client

from paraph.messaging.models import CapturedMessage
from paraph.tenants.accounts import password_link
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member, first_owner_link
from paraph.tenants.models import Activity, Member, Organization, Role, User
from tests.dashboard.conftest import PASSWORD, account_mails, just_logged_in, read
from tests.tenancy import create_organization

pytestmark = pytest.mark.usefixtures("nothing_counted")

GIVEN = {"organization": "Harbour Homes", "name": "Ada", "email": "Ada@example.com", "password": PASSWORD}


@pytest.fixture
def ada(organization: Organization) -> User:
    return create_member(organization.pk, OPERATOR, "ada@example.com", Role.OWNER, password=PASSWORD).user


def log_in(client: Client, email: str = "ada@example.com", password: str = PASSWORD, **more: Any) -> Any:
    return client.post("/account/login/", {"login": email, "password": password}, **more)


def link_in(mail: CapturedMessage) -> str:
    found = re.search(r"http://\S+", mail.text)
    assert found
    return found[0]


def test_a_member_logs_in_and_out(ada: User, organization: Organization) -> None:
    client, planted = Client(), "planted1" * 4
    client.cookies["session"] = planted
    entered = log_in(client)
    assert (entered.status_code, entered["Location"]) == (303, "/app/")
    assert client.cookies["session"].value != planted, "nobody knows the session beforehand"
    kept = [(client.cookies[name]["httponly"], client.cookies[name]["samesite"]) for name in ("session", "csrf")]
    assert kept == [(True, "Lax")] * 2, "from scripts and other sites"
    assert client.get("/app/")["Location"] == f"/app/{organization.pk}/"
    assert client.get("/account/logout/").status_code == 200  # the page only asks: following a link logs nobody out
    assert client.get(f"/app/{organization.pk}/").status_code == 200
    assert client.post("/account/logout/").status_code == 303
    assert client.get(f"/app/{organization.pk}/")["Location"].startswith("/account/login/")


def test_the_page_that_was_asked_for_follows_and_no_other_site(ada: User) -> None:
    assert log_in(Client(), QUERY_STRING="next=/account/")["Location"] == "/account/"
    for there in ("https://evil.example/", "//evil.example/", "/\\evil.example", "http:///evil.example",
                  "javascript:alert(1)", "https:evil.example", "\thttps://evil.example"):  # fmt: skip
        for host in ("testserver", "evil.example"):
            led = log_in(Client(), QUERY_STRING=urlencode({"next": there}), headers={"Host": host})["Location"]
            assert re.match(r"/(?![/\\])", led), (there, host)


def test_a_wrong_password_and_an_unknown_address_get_one_answer(ada: User) -> None:
    pages = []
    for email in ("ada@example.com", "bob@example.com"):
        page = read(log_in(Client(), email, "not the password"), 422)
        pages.append(re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page).replace(email, ""))
    assert pages[0] == pages[1] and 'role="alert"' in pages[0]


def test_wrong_passwords_are_limited_by_address_and_by_client(ada: User) -> None:
    for number in range(5):
        assert log_in(Client(REMOTE_ADDR=f"192.0.2.{number}"), password="wrong").status_code == 422
    assert "Too many failed" in read(log_in(Client(REMOTE_ADDR="192.0.2.99")), 422)
    cache.clear()
    for number in range(10):
        log_in(Client(REMOTE_ADDR="192.0.2.1"), f"u{number}@example.com", "wrong")
    assert "Too many failed" in read(log_in(Client(REMOTE_ADDR="192.0.2.1")), 422)
    assert log_in(Client(REMOTE_ADDR="192.0.2.2")).status_code == 303


def test_clients_behind_a_trusted_proxy_are_told_apart_and_others_cannot_pretend(ada: User, settings: Any) -> None:
    for number in range(10):
        log_in(Client(), f"u{number}@example.com", "wrong", headers={"X-Forwarded-For": f"203.0.113.{number}"})
    another = {"X-Forwarded-For": "203.0.113.50"}
    assert log_in(Client(), headers=another).status_code == 422
    settings.PARAPH = settings.PARAPH.model_copy(update={"trusted_proxies": ["127.0.0.1/32"]})
    assert log_in(Client(), headers=another).status_code == 303


def test_a_forgotten_password_is_set_anew_by_a_link_that_works_once(ada: User, organization: Organization) -> None:
    elsewhere = Client()
    log_in(elsewhere)
    client = Client()
    asked = client.post("/account/password/reset/", {"email": "Ada@example.com"}, headers={"Host": "evil.example"})
    assert asked.status_code == 303
    [mail] = account_mails()
    assert mail.to == "ada@example.com" and mail.html
    link = link_in(mail)
    assert link.startswith("http://127.0.0.1:8000/account/password/reset/key/"), "never the Host header's"
    form = client.get(link, follow=True)
    address = form.request["PATH_INFO"]
    weak = client.post(address, {"password1": "12345", "password2": "12345"})
    assert weak.status_code == 422
    done = client.post(address, {"password1": "another long phrase", "password2": "another long phrase"})
    assert done.status_code == 303
    assert client.get(f"/app/{organization.pk}/").status_code == 200, "logged in"
    assert elsewhere.get(f"/app/{organization.pk}/").status_code == 302, "other sessions have ended"
    assert "This link no longer works" in Client().get(link, follow=True).content.decode()
    assert [mail.subject for mail in account_mails()][1:] == ["Password Reset"], "and is told to the owner"


def test_a_forgotten_password_tells_nobody_whether_an_address_is_known(ada: User) -> None:
    answers = []
    for email in ("ada@example.com", "bob@example.com"):
        answer = Client().post("/account/password/reset/", {"email": email}, follow=True)
        answers.append((answer.status_code, answer.redirect_chain, answer.content))
    assert answers[0] == answers[1]
    assert b"the service keeps a mail with a link" in answers[0][2] and b"on its way" not in answers[0][2]
    assert [mail.to for mail in account_mails()] == ["ada@example.com"]


def test_sessions_are_listed_and_ended(ada: User, organization: Organization) -> None:
    here, elsewhere = Client(headers={"User-Agent": "Here/1"}), Client(headers={"User-Agent": "Elsewhere/1"})
    log_in(here)
    log_in(elsewhere)
    page = read(here.get("/account/sessions/"))
    assert "Here/1" in page and "Elsewhere/1" in page
    assert here.post("/account/sessions/").status_code == 303
    assert here.get(f"/app/{organization.pk}/").status_code == 200
    assert elsewhere.get(f"/app/{organization.pk}/").status_code == 302


def test_an_address_changes_when_the_new_one_is_confirmed(ada: User) -> None:
    client = Client()
    log_in(client)
    asked = client.post("/account/email/", {"email": "grace@example.com", "action_add": "1"})
    assert asked["Location"].startswith("/account/reauthenticate/")
    taken = client.post(asked["Location"], {"password": PASSWORD})
    assert (taken.status_code, taken["Location"]) == (303, "/account/email/"), "the form that was sent before"
    ada.refresh_from_db()
    assert ada.email == "ada@example.com"
    mail = next(mail for mail in account_mails() if mail.to == "grace@example.com")
    assert client.get(link_in(mail)).status_code == 200  # a mail scanner that follows the link confirms nothing
    ada.refresh_from_db()
    assert ada.email == "ada@example.com"
    assert client.post(link_in(mail)).status_code == 303
    ada.refresh_from_db()
    assert ada.email == "grace@example.com"
    assert log_in(Client(), "grace@example.com").status_code == 303


def test_nobody_signs_up_where_registration_is_closed(organization: Organization) -> None:
    assert just_logged_in(organization, Role.OWNER).post("/app/new", {"name": "Another"}).status_code == 403
    assert Organization.objects.count() == 1
    User.objects.all().delete()
    client = Client()
    assert "Accounts are by invitation only" in read(client.get("/account/signup/"))
    client.post("/account/signup/", {"name": "Eve", "email": "eve@example.com", "password1": PASSWORD})
    assert not User.objects.exists()
    assert "/account/signup/" not in read(client.get("/account/login/"))


def test_open_registration_confirms_addresses_and_tells_nobody_which_are_known(ada: User, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"registration": "open"})
    answers = []
    for email in ("new@example.com", "ada@example.com", "new@example.com"):
        given = {"name": "Eve", "email": email, "password1": PASSWORD}
        answer = Client().post("/account/signup/", given, follow=True)
        answers.append((answer.status_code, answer.redirect_chain, answer.content))
    assert answers[0] == answers[1] == answers[2]
    assert log_in(Client(), "new@example.com").get("Location") != "/app/", "not before the address is confirmed"
    sent = [(mail.to, mail.subject) for mail in account_mails()]
    assert sent[:2] == [("new@example.com", "Confirm your address"), ("ada@example.com", "You already have an account")]
    client = Client()
    assert client.post(link_in(account_mails()[0])).status_code == 303
    assert log_in(client, "new@example.com").status_code == 303
    made = client.post("/app/new", {"name": "Eve & Sons"})
    assert made.status_code == 303
    assert Member.objects.get(user__email="new@example.com").role == Role.OWNER
    assert client.get(made["Location"]).status_code == 200


def test_the_chosen_language_prevails_over_the_browsers(ada: User) -> None:
    client = Client(headers={"Accept-Language": "de"})
    log_in(client)
    assert client.get("/account/")["Content-Language"] == "de"
    client.post("/account/", {"name": "Ada", "language": "fr"})
    page = client.get("/account/")
    assert page["Content-Language"] == "fr" and '<html lang="fr">' in page.content.decode()


@pytest.mark.parametrize(
    ("host", "offered"), [("localhost:8000", True), ("127.0.0.1:8000", False), ("[::1]:8000", False)]
)
def test_a_passkey_is_offered_where_the_page_has_a_name(host: str, offered: bool) -> None:
    page = read(Client(headers={"host": host}).get("/account/login/"))
    assert ("passkey_login" in page) == offered


def code(secret: str) -> str:
    """Return the code that an authenticator app shows now (RFC 6238)."""
    mac = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    place = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[place : place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


def setting_up(client: Client) -> str:
    """Return the page with the secret of an authenticator app, having given the password that it asks for."""
    client.post(client.get("/account/2fa/totp/activate/")["Location"], {"password": PASSWORD})
    return read(client.get("/account/2fa/totp/activate/"))


def recovery_codes(client: Client) -> list[str]:
    codes = read(client.get("/account/2fa/recovery-codes/"))
    return re.findall(r"\b\d{8}\b", codes.partition("<textarea")[2].partition("</textarea>")[0])


def test_a_second_factor_is_asked_for_after_the_password(
    ada: User, organization: Organization, django_capture_on_commit_callbacks: Any
) -> None:
    """The activity log notes when the second factor and its recovery codes are added and removed."""
    client = Client()
    log_in(client)
    page = setting_up(client)
    assert "<svg" in page and "data:image" not in page and "<?xml" not in page
    [secret] = re.findall(r"<code>([A-Z2-7]+)</code>", page)
    wrong = "000000" if code(secret) != "000000" else "000001"
    with django_capture_on_commit_callbacks(execute=True):
        for given, status in ((wrong, 422), (code(secret), 303)):
            assert client.post("/account/2fa/totp/activate/", {"code": given}).status_code == status
    assert all(secret not in str(each.data) for each in Authenticator.objects.all()), "kept encrypted"
    recovery = recovery_codes(client)
    assert len(recovery) == 10
    for given, status in (("abcdefgh", 422), (recovery[0], 303), (recovery[0], 422)):  # each code works once
        entering = Client()
        assert log_in(entering)["Location"] == "/account/2fa/authenticate/"
        assert entering.get(f"/app/{organization.pk}/").status_code == 302, "not with the password alone"
        assert entering.post("/account/2fa/authenticate/", {"code": given}).status_code == status
        assert entering.get(f"/app/{organization.pk}/").status_code == (200 if status == 303 else 302)
    assert client.post("/account/2fa/totp/deactivate/").status_code == 303
    acts = Activity.objects.filter(actor_kind="member").values_list("action", flat=True)
    assert list(acts) == ["account.second_factor_added"] * 2 + ["account.second_factor_removed"] * 2


def test_a_new_password_ends_the_other_sessions_and_is_noted_in_each_organization(
    ada: User, organization: Organization
) -> None:
    create_member(create_organization("Elsewhere", "free").pk, OPERATOR, "ada@example.com", Role.MEMBER)
    client, elsewhere = Client(REMOTE_ADDR="203.0.113.7"), Client()
    log_in(client)
    log_in(elsewhere)
    new = {"oldpassword": PASSWORD, "password1": "another long phrase", "password2": "another long phrase"}
    assert client.post("/account/password/change/", new).status_code == 303
    acts = Activity.objects.filter(action="account.password_changed")
    assert len({act.organization_id for act in acts}) == len(acts) == 2
    assert {(act.actor, act.ip) for act in acts} == {("ada@example.com", "203.0.113.7")}
    assert "phrase" not in str(Activity.objects.values())
    here = f"/app/{organization.pk}/"
    assert (client.get(here).status_code, elsewhere.get(here).status_code) == (200, 302)


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


def test_a_link_that_is_late_or_forged_makes_nobody(
    organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = urlsplit(first_owner_link()).path
    for token in ("owner", "owner:1:abc", signing.TimestampSigner(salt="another").sign("owner")):
        assert Client().post(f"/account/first/{token}/", GIVEN).status_code == 410
    late = time.time() + 3660
    monkeypatch.setattr(time, "time", lambda: late)
    assert Client().post(address, GIVEN).status_code == 410
    assert not Member.objects.exists()


def test_a_link_of_operators_leads_to_a_password(organization: Organization) -> None:
    user = create_member(organization.pk, OPERATOR, "bob@example.com", Role.MEMBER).user
    client = Client()
    form = client.get(urlsplit(password_link(user)).path, follow=True).request["PATH_INFO"]
    done = client.post(form, {"password1": PASSWORD, "password2": PASSWORD})
    assert done["Location"] == "/app/", "and logged in"


def test_the_question_says_for_how_long_it_holds(organization: Organization) -> None:
    """Portuguese words are of a catalog of their own, which is a copy."""
    client = just_logged_in(organization, Role.OWNER)
    said = {"en": "you won't be asked again for five minutes", "pt": "não voltaremos a perguntar durante cinco minutos"}
    for language, words in said.items():
        assert words in read(client.get("/account/reauthenticate/", headers={"Accept-Language": language}))
