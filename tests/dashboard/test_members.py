"""The page of members: who sees and who changes whom, and what is refused with which words; the link of an invitation,
whose every dead end offers a way on."""

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.account_mail.mail_account import hand_over, mail_account
from paraph.counts.models import Count
from paraph.dashboard.members import mail_invitation
from paraph.dashboard.templatetags.dashboard import mail_address
from paraph.flow.housekeeping.sweep import sweep
from paraph.kernel import clock
from paraph.messaging.gateways import destination_hash
from paraph.messaging.models import RefusedAddress
from paraph.tenants import members
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import close_organization
from paraph.tenants.models import Activity, Invitation, Member, Organization, Role, User
from tests.dashboard.conftest import PASSWORD, LogIn, account_mails, proved, read
from tests.refusing import NO_SUCH_USER, refusing_server
from tests.tenancy import create_organization


def address(member: Member, rest: str = "") -> str:
    return f"/app/{member.organization_id}/members{rest}"


def invite(client: Client, member: Member, email: str = "bob@example.com", role: str = Role.MEMBER) -> Any:
    return client.post(address(member), {"email": email, "role": role})


def test_everybody_sees_the_members_with_second_factor_and_last_visit(log_in: LogIn) -> None:
    owner, _ = log_in(Role.OWNER)
    Authenticator.objects.create(user=owner.user, type=Authenticator.Type.TOTP, data={})
    observer, client = log_in(Role.OBSERVER)
    page = read(client.get(address(observer)))
    rows = dict(re.findall(r'<tr data-id="(\d+)">(.*?)</tr>', page, re.DOTALL))
    assert mail_address(owner.user.email) in rows[str(owner.pk)]
    assert ">On<" in rows[str(owner.pk)] and "Never" in rows[str(owner.pk)]
    assert ">Off<" in rows[str(observer.pk)] and f"{clock.now():%Y-%m-%d}" in rows[str(observer.pk)]
    assert "Invite</button>" not in page and "Remove</button>" not in page
    assert "Owner" in read(invite(client, observer), 403), "who may"


def test_an_invitation_is_made_sent_again_and_withdrawn(log_in: LogIn, settings: Any) -> None:
    owner, client = log_in()
    taken = invite(client, owner)
    assert (taken.status_code, taken.headers["Location"]) == (303, address(owner))
    page = read(client.get(address(owner)))
    assert "The invitation to bob@example.com was not mailed" in page and "is on its way" not in page
    resend = address(owner, f"/invitations/{Invitation.objects.get().pk}/resend")
    assert resend in page
    said = "A new invitation to bob@example.com was not mailed", "bob@example.com is on its way again"
    for smtp_url, sentence in (("", said[0]), ("smtp://127.0.0.1:1", said[1]), ("", said[0])):
        settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": smtp_url})
        sent = client.post(resend, follow=True)
        assert sent.redirect_chain == [(address(owner), 303)] and sentence in read(sent)
    refused = 'role="alert">An invitation can be sent again at most 3 times in 10 minutes'
    assert refused in read(client.post(resend), 422)
    assert client.post(resend.replace("resend", "withdraw")).status_code == 303
    assert resend not in read(client.get(address(owner)))
    acts = ["member.invited", *["invitation.resent"] * 3, "invitation.withdrawn"]
    assert [act.action for act in Activity.objects.all()] == acts


def test_an_invitation_whose_mail_cannot_be_handed_over_is_not_made(
    log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, client = log_in()
    client.raise_request_exception = False
    monkeypatch.setattr(settings.SECRETS, "encrypt", None)  # no mail can be left to a job without it
    assert invite(client, owner).status_code == 500
    assert not Invitation.objects.exists() and not Activity.objects.exists()


def test_resends_are_counted_by_the_network_of_the_caller(log_in: LogIn) -> None:
    owner, client = log_in()
    invite(client, owner)
    pk = Invitation.objects.get().pk
    for scope in ("2001:db8::1", "2001:db8::ffff", "192.0.2.9"):
        client.post(address(owner, f"/invitations/{pk}/resend"), REMOTE_ADDR=scope)
    counted = Count.objects.filter(scope__startswith="resends-from:").values_list("scope", "count")
    networks = {"2001:db8::/64": 2, "192.0.2.9": 1}
    assert dict(counted) == {f"resends-from:{destination_hash(each)}": number for each, number in networks.items()}


def test_whoever_invites_an_admin_says_first_who_they_are(log_in: LogIn) -> None:
    owner, client = log_in()
    proved(client, 301)
    for role in (Role.ADMIN, Role.OWNER):
        asked = invite(client, owner, role=role)
        assert asked.headers["Location"].startswith("/account/reauthenticate/")
    assert not Invitation.objects.exists()
    proved(client)
    assert invite(client, owner, role=Role.ADMIN).headers["Location"] == address(owner)


def test_an_admin_reads_why_they_may_not_change_an_owner(log_in: LogIn) -> None:
    owner, _ = log_in(Role.OWNER)
    admin, client = log_in(Role.ADMIN)
    proved(client)
    assert "Only owners can change admins and owners." in read(client.get(address(admin)))
    assert 'role="alert">You cannot' in read(client.post(address(admin, f"/{owner.pk}/remove")), 422)
    assert client.post(address(admin, f"/{owner.pk}"), {"role": Role.OBSERVER}).status_code == 422


def test_the_last_owner_stays_until_they_hand_over(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    proved(client)
    assert "You are the only owner." in read(client.get(address(owner)))
    assert "make another member an owner first" in read(client.post(address(owner, "/leave")), 422)
    heir, _ = log_in(Role.MEMBER)
    other, _ = log_in(Role.MEMBER)
    assert client.post(address(owner, f"/{other.pk}"), {"role": Role.ADMIN}).status_code == 303
    assert Member.objects.get(pk=other.pk).role == Role.ADMIN
    assert client.post(address(owner, f"/{other.pk}/remove")).status_code == 303
    assert client.post(address(owner, f"/{heir.pk}/transfer")).status_code == 303
    assert client.post(address(owner, "/leave")).headers["Location"] == "/app/"
    assert list(Member.objects.values_list("pk", "role")) == [(heir.pk, Role.OWNER)]


def test_what_is_wrong_with_an_address_stands_at_its_field_and_who_invites_is_named_plainly(log_in: LogIn) -> None:
    member, client = log_in()
    assert invite(client, member, "new@example.com").status_code == 303
    [mail] = account_mails()
    assert mail.to == "new@example.com" and f"{member.user.email} invites you" in mail.text
    for email, said in (
        ("NEW@example.com", "new@example.com has already been invited"),
        (member.user.email.upper(), f"{member.user.email} is already a member."),
        ("nobody", "valid email"),
    ):
        page = read(invite(client, member, email), 422)
        assert 'role="alert"' in page and said in page.partition('id="id_email_error"')[2].partition("</div>")[0]


def test_a_mail_that_is_refused_for_good_stands_beside_its_address_until_one_is_taken(
    log_in: LogIn, settings: Any
) -> None:
    owner, client = log_in()
    asked = ProcrastinateJob.objects.filter(task_name="paraph.flow.jobs.mail_account").order_by("id")
    with refusing_server(settings) as server:
        for refused in (owner.user.email, "bob@example.com"):
            server.recipients[refused] = NO_SUCH_USER
            hand_over(refused, "en", "A new password", "text")
            mail_account(asked.last().args["sealed"])  # type: ignore[union-attr]
        invite(client, owner)
        page = read(client.get(address(owner)))
        assert page.count("Not delivered") == page.count("User unknown") == 2 and "550 5.1.1 …" in page
        server.recipients.clear()
        mail_account(asked.last().args["sealed"])  # type: ignore[union-attr]
        assert read(client.get(address(owner))).count("Not delivered") == 1
        assert server.asked == {owner.user.email: 1, "bob@example.com": 2}
    RefusedAddress.objects.update(at=clock.now() - timedelta(days=91))
    sweep()
    assert not RefusedAddress.objects.exists()


@pytest.fixture
def path(organization: Organization) -> str:
    """The link of Bob's invitation."""
    cache.clear()
    mail_invitation(members.invite(organization.pk, OPERATOR, "bob@example.com", Role.MEMBER))
    [mail] = account_mails()
    found = re.search(r"/invitations/\S+", mail.text)
    assert found
    return found[0]


@pytest.fixture
def bob(db: None) -> User:
    """A user who belongs to another organization."""
    elsewhere = create_organization("Elsewhere", "free")
    return members.create_member(elsewhere.pk, OPERATOR, "bob@example.com", Role.OWNER, password=PASSWORD).user


def test_a_newcomer_makes_an_account_although_registration_is_closed(path: str, organization: Organization) -> None:
    client = Client()
    page = client.get(path)
    assert "Join Analytical Engines" in read(page) and "no-store" in page.headers["Cache-Control"]
    assert Invitation.objects.get().accepted_at is None and not User.objects.exists(), "it was only opened"
    asked = client.post(path)["Location"]
    assert asked == f"/account/signup/?next={path.replace('/', '%2F')}"
    assert 'value="bob@example.com"' in read(client.get(asked))
    made = client.post(asked, {"name": "Bob", "email": "eve@example.com", "password1": PASSWORD})
    assert (made.status_code, made["Location"]) == (303, path)
    accepted = client.get(path)
    assert (accepted.status_code, accepted["Location"]) == (303, f"/app/{organization.pk}/")
    member = Member.objects.select_related("user").get()
    assert (member.user.email, member.user.name, member.role) == ("bob@example.com", "Bob", Role.MEMBER)
    assert EmailAddress.objects.get().email == "bob@example.com", "whatever the form says"
    assert client.get(f"/app/{organization.pk}/").status_code == 200
    client.post("/account/logout/")
    assert "by invitation" in read(client.get("/account/signup/")), "for one account"


def test_who_has_an_account_logs_in_first_and_that_alone_accepts_nothing(
    path: str, organization: Organization, bob: User
) -> None:
    entry = {"login": "bob@example.com", "password": PASSWORD}
    client = Client()
    client.post(f"/account/login/?next={path}", entry)
    assert "Join Analytical Engines" in read(client.get(path))
    assert Invitation.objects.get().accepted_at is None
    client = Client()
    asked = client.post(path)["Location"]
    assert asked.startswith("/account/login/?next=") and client.post(asked, entry)["Location"] == path
    client.get(path)
    assert bob.memberships.filter(organization=organization).exists()


def test_the_wrong_account_reads_so_and_finds_the_way_out(path: str, log_in: LogIn) -> None:
    member, client = log_in()
    for answer in (client.get(path), client.post(path)):
        assert f"is for bob@example.com. You are logged in as {member.user.email}." in read(answer, 403)
    out = client.post("/account/logout/", {"next": path})
    assert (out.status_code, out.headers["Location"]) == (303, path)
    assert client.get(path).status_code == 200
    assert Invitation.objects.get().accepted_at is None


def test_expired_withdrawn_used_and_unknown_links_have_their_own_words(path: str, organization: Organization) -> None:
    def said(status: int, address: str = path) -> str:
        page = read(Client().get(address), status)
        found = re.search("<h1>(.*?)</h1>", page)
        assert found and 'class="button' in page
        return found[1]

    Invitation.objects.update(expires_at=clock.now())
    assert said(410) == "Invitation expired"
    Invitation.objects.update(accepted_at=clock.now())
    assert said(410) == "Already accepted"
    Invitation.objects.update(accepted_at=None)
    members.withdraw_invitation(organization.pk, OPERATOR, Invitation.objects.get().pk)
    assert said(410) == "Invitation withdrawn" and Client().post(path).status_code == 410
    close_organization(organization.pk, OPERATOR)
    assert said(404) == said(404, "/invitations/unknown") == "Unknown invitation"
    assert not User.objects.exists()
