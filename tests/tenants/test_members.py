"""Who may make, change, remove and invite members, how often, and what a link is good for."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from paraph.dashboard.members import mail_invitation
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.tenants.admin_log import OPERATOR, Actor
from paraph.tenants.members import (
    accept_invitation,
    change_role,
    count_resend,
    create_member,
    invite,
    remove_member,
    resend_invitation,
    transfer_ownership,
    withdraw_invitation,
)
from paraph.tenants.models import Activity, ActorKind, Invitation, Member, Organization, Role, User
from tests.dashboard.conftest import account_mails
from tests.factories import jobs
from tests.tenancy import create_organization
from tests.threads import at_once

ROLES = {"second": Role.OWNER}


@pytest.fixture
def organization(db: None) -> Organization:
    return create_organization("Analytical Engines", "pro")


def joined(organization: Organization, role: str, name: str = "") -> Member:
    return create_member(organization.pk, OPERATOR, f"{name or role}@example.com", role)


def acting(member: Member) -> Actor:
    return Actor(ActorKind.MEMBER, member.user_id, member.user.email, "192.0.2.1")


def refused(code: str) -> "pytest.RaisesExc[DomainError]":
    return pytest.raises(DomainError, match=f"^{code}: ")


def test_each_change_is_noted_in_the_activity_log(organization: Organization) -> None:
    owner = joined(organization, Role.OWNER)
    other = create_member(organization.pk, acting(owner), " Grace@Example.com ", Role.MEMBER, name="Grace")
    change_role(organization.pk, acting(owner), other.pk, Role.ADMIN)
    remove_member(organization.pk, acting(owner), other.pk)
    acts = list(Activity.objects.filter(organization=organization))
    assert [(act.action, act.subject, act.actor) for act in acts] == [
        ("member.joined", "owner@example.com", ""),
        ("member.joined", "grace@example.com", "owner@example.com"),
        ("member.role_changed", "grace@example.com", "owner@example.com"),
        ("member.removed", "grace@example.com", "owner@example.com"),
    ]


def test_who_gives_and_takes_which_role(organization: Organization) -> None:
    here, elsewhere = organization.pk, create_organization("Elsewhere", "free")
    names = ("owner", "second", "admin", "member", "observer")
    owner, second, admin, member, observer = (joined(organization, ROLES.get(name, name), name) for name in names)
    others = {role: joined(organization, role, f"other-{role}") for role in Role.values}
    stranger = joined(elsewhere, Role.OWNER, "stranger")
    by_owner = invited(owner, role=Role.ADMIN)
    remove_member(here, OPERATOR, second.pk)
    acts: list[tuple[str, Callable[[], object]]] = [
        ("not_found", lambda: remove_member(here, OPERATOR, stranger.pk)),
        ("not_found", lambda: resent(stranger, by_owner)),
        ("forbidden", lambda: resent(admin, by_owner)),
        ("forbidden", lambda: withdraw_invitation(here, acting(admin), by_owner.pk)),
        ("forbidden", lambda: invited(observer, "new@example.com", Role.OBSERVER)),
    ]
    for role in (Role.ADMIN, Role.OWNER):
        acts += [
            ("forbidden", partial(create_member, here, acting(admin), "new@example.com", role)),
            ("forbidden", partial(change_role, here, acting(admin), others[Role.MEMBER].pk, role)),
            ("forbidden", partial(change_role, here, acting(admin), others[role].pk, Role.MEMBER)),
            ("forbidden", partial(remove_member, here, acting(admin), others[role].pk)),
            ("forbidden", partial(invited, admin, "new@example.com", role)),
        ]
    for each in (member, observer, second, stranger):  # the third is removed meanwhile
        acts += [
            ("forbidden", partial(remove_member, here, acting(each), others[Role.OBSERVER].pk)),
            ("forbidden", partial(create_member, here, acting(each), "new@example.com", Role.OBSERVER)),
        ]
    for code, act in acts:
        with refused(code):
            act()
    assert not User.objects.filter(email="new@example.com").exists()
    invited(admin, "new@example.com", Role.OBSERVER)
    for each in (member, observer):
        remove_member(here, acting(each), each.pk)
        assert Activity.objects.filter(organization=organization).latest("pk").action == "member.left"


def test_the_last_owner_stays_until_the_organization_is_handed_over(organization: Organization) -> None:
    owner, heir = joined(organization, Role.OWNER), joined(organization, Role.MEMBER, "heir")
    for code, act in (
        ("conflict", lambda: remove_member(organization.pk, acting(owner), owner.pk)),
        ("conflict", lambda: change_role(organization.pk, OPERATOR, owner.pk, Role.ADMIN)),
        ("forbidden", lambda: transfer_ownership(organization.pk, acting(heir), owner.pk)),
        ("conflict", lambda: transfer_ownership(organization.pk, acting(owner), owner.pk)),
    ):
        with refused(code):
            act()
    transfer_ownership(organization.pk, acting(owner), heir.pk)
    roles = {member.user.email: member.role for member in Member.objects.select_related("user")}
    assert roles == {"heir@example.com": Role.OWNER, "owner@example.com": Role.ADMIN}


def test_a_first_password_is_set_once(organization: Organization) -> None:
    create_member(organization.pk, OPERATOR, "ada@example.com", Role.OWNER, password="a long enough phrase")
    elsewhere = create_organization("Elsewhere", "free")
    with refused("validation_error"):
        create_member(elsewhere.pk, OPERATOR, "ada@example.com", Role.OWNER, password="another long phrase")
    with refused("validation_error"):
        create_member(elsewhere.pk, OPERATOR, "bob@example.com", Role.OWNER, password="12345")
    with refused("conflict"):
        create_member(organization.pk, OPERATOR, "ADA@example.com", Role.ADMIN)
    assert not User.objects.filter(email="bob@example.com").exists()


def test_sessions_end_with_the_last_organization(organization: Organization) -> None:
    joined(organization, Role.OWNER)
    member = create_member(organization.pk, OPERATOR, "bob@example.com", Role.MEMBER, password="a long enough phrase")
    client = Client()
    client.post("/account/login/", {"login": "bob@example.com", "password": "a long enough phrase"})
    assert client.get(f"/app/{organization.pk}/").status_code == 200
    remove_member(organization.pk, OPERATOR, member.pk)
    assert not Session.objects.exists()
    assert client.get("/app/").headers["Location"].startswith("/account/login/")


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_leave_one_owner(organization: Organization) -> None:
    owners = [joined(organization, Role.OWNER, name) for name in ("first", "second")]

    leave = at_once(*(partial(remove_member, organization.pk, acting(owner), owner.pk) for owner in owners))
    assert sorted(leave, key=str) == [None, "conflict"]


@pytest.fixture
def owner(organization: Organization) -> Member:
    return create_member(organization.pk, OPERATOR, "owner@example.com", Role.OWNER, name="Ada")


def invited(by: Member, email: str = "bob@example.com", role: str = Role.MEMBER) -> Invitation:
    made = invite(by.organization_id, acting(by), email, role)
    mail_invitation(made)
    return made.invitation


def resent(by: Member, invitation: Invitation, network: str = "192.0.2.1") -> Invitation:
    made = resend_invitation(by.organization_id, acting(by), invitation.pk, network)
    mail_invitation(made)
    return made.invitation


def secret_in(mail: CapturedMessage) -> str:
    found = re.search(r"/invitations/([\w-]+)", mail.text)
    assert found
    return found[1]


def test_an_invited_person_joins_once_by_the_link_of_their_mail(owner: Member) -> None:
    """The link's secret stands in the mail alone, and a link in the name of the organization leads nowhere."""
    Organization.objects.update(name="Win at https://evil.example now")
    invitation = invited(owner, " Bob@Example.com ", Role.ADMIN)
    waiting = str(jobs())
    [mail] = account_mails()
    secret = secret_in(mail)
    assert secret not in waiting and secret not in str(list(Activity.objects.values()))
    assert secret.encode() != bytes(invitation.secret_sha256)
    assert mail.to == "bob@example.com" and mail.subject == "Join Win at evil. example now"
    assert "Ada invites you to join Win at evil. example" in mail.text and "Admin" in mail.text and mail.html
    assert "evil.example" not in mail.text
    bob = User.objects.create(email="bob@example.com")
    member = accept_invitation(secret, bob, Actor(ActorKind.MEMBER, bob.pk, bob.email))
    assert (member.organization_id, member.role) == (owner.organization_id, Role.ADMIN)
    with refused("expired"):
        accept_invitation(secret, bob, Actor(ActorKind.MEMBER, bob.pk, bob.email))


def test_a_link_is_its_persons_own_for_seven_days_until_it_is_resent_or_withdrawn(owner: Member) -> None:
    invitation = invited(owner)
    bob, eve = (User.objects.create(email=f"{name}@example.com") for name in ("bob", "eve"))
    assert invitation.expires_at - clock.now() > timedelta(days=6, hours=23)
    first = secret_in(account_mails()[0])
    with refused("forbidden"):
        accept_invitation(first, eve, OPERATOR)
    Invitation.objects.update(expires_at=clock.now())
    with refused("expired"):
        accept_invitation(first, bob, OPERATOR)
    assert resent(owner, invitation).expires_at - clock.now() > timedelta(days=6, hours=23)
    with refused("not_found"):
        accept_invitation(first, bob, OPERATOR)
    accept_invitation(secret_in(account_mails()[1]), bob, OPERATOR)
    other = invited(owner, "eve@example.com")
    withdraw_invitation(owner.organization_id, acting(owner), other.pk)
    with refused("expired"):
        accept_invitation(secret_in(account_mails()[2]), eve, OPERATOR)
    with refused("not_found"):
        resent(owner, other)


def test_nobody_comes_back_by_an_invitation_of_their_own(owner: Member) -> None:
    other = joined(owner.organization, Role.OWNER, "other")
    ours, theirs = invited(owner, "kept@example.com", Role.OWNER), invited(other, "alias@example.com", Role.OWNER)
    lesser = invited(other, "lesser@example.com", Role.MEMBER)
    change_role(owner.organization_id, acting(owner), other.pk, Role.ADMIN)
    withdrawn = Invitation.objects.exclude(withdrawn_at=None).values_list("pk", flat=True)
    assert list(withdrawn) == [theirs.pk]
    remove_member(owner.organization_id, acting(owner), other.pk)
    assert set(withdrawn.all()) == {theirs.pk, lesser.pk} and ours.pk not in withdrawn


@pytest.mark.django_db(transaction=True)
def test_three_resends_a_member_in_ten_minutes_also_at_once(owner: Member) -> None:
    invitation = invited(owner)
    assert at_once(*[lambda: resent(owner, invitation)] * 6).count("rate_limited") == 3
    assert len(account_mails()) == 4, "what is refused sends nothing"
    withdraw_invitation(owner.organization_id, acting(owner), invitation.pk)
    with refused("rate_limited"):
        resent(owner, invited(owner))


@pytest.mark.django_db(transaction=True)
def test_twenty_invitations_a_day_also_at_once(owner: Member) -> None:
    for number in range(18):
        invited(owner, f"{number}@example.com")
    sent = at_once(*(partial(invited, owner, f"late-{number}@example.com") for number in range(6)))
    assert sent.count("rate_limited") == 4
    Invitation.objects.filter(email="0@example.com").update(created_at=clock.now() - timedelta(days=1))
    invited(owner, "one-more@example.com")
    assert Activity.objects.filter(organization=owner.organization_id, action="member.invited").count() == 21


@pytest.mark.django_db(transaction=True)
def test_thirty_resends_an_hour_from_one_network_also_at_once_in_several_organizations(owner: Member) -> None:
    for number in range(28):
        count_resend(Invitation(organization=owner.organization, email=f"{number}@example.com"), "2001:db8::/64")
    owners = [joined(create_organization(f"Elsewhere {number}", "free"), Role.OWNER, "o") for number in range(6)]
    pairs = [(each, invited(each)) for each in owners]
    sent = at_once(*(partial(resent, *pair, "2001:db8::/64") for pair in pairs))
    assert sent.count("rate_limited") == 4
    resent(owners[0], pairs[0][1], "2001:db8:1::/64")
