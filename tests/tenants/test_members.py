"""Who may make, change, remove and invite members, how often, and what a link is good for."""

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from paraph.account_mail.mail_account import mail_account
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
from tests.factories import jobs
from tests.tenancy import create_organization
from tests.threads import beside_each_other


def joined(organization: Organization, role: str, name: str = "") -> Member:
    return create_member(organization.pk, OPERATOR, f"{name or role}@example.com", role)


def acting(member: Member) -> Actor:
    return Actor(ActorKind.MEMBER, member.user_id, member.user.email, "192.0.2.1")


def refused(code: str) -> "pytest.RaisesExc[DomainError]":
    return pytest.raises(DomainError, match=f"^{code}: ")


def outcomes_at_once(act: Callable[[Any], object], things: Iterable[Any]) -> list[str]:
    """What becomes of each of them, all at once: "done", or the code of the refusal."""

    def one(thing: Any) -> str:
        try:
            act(thing)
            return "done"
        except DomainError as refusal:
            return refusal.code

    return sorted(beside_each_other(*(partial(one, thing) for thing in things), threads=6))


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


@pytest.mark.parametrize("role", [Role.ADMIN, Role.OWNER])
def test_an_admin_gives_and_takes_no_role_of_admins_and_owners(organization: Organization, role: Role) -> None:
    joined(organization, Role.OWNER, "first")
    admin, target = joined(organization, Role.ADMIN, "acting"), joined(organization, role, "target")
    lesser = joined(organization, Role.MEMBER)
    with refused("forbidden"):
        create_member(organization.pk, acting(admin), "new@example.com", role)
    with refused("forbidden"):
        change_role(organization.pk, acting(admin), lesser.pk, role)
    with refused("forbidden"):
        change_role(organization.pk, acting(admin), target.pk, Role.MEMBER)
    with refused("forbidden"):
        remove_member(organization.pk, acting(admin), target.pk)
    assert not User.objects.filter(email="new@example.com").exists()


@pytest.mark.parametrize("role", [Role.MEMBER, Role.OBSERVER])
def test_members_and_observers_change_nobody_but_may_leave(organization: Organization, role: Role) -> None:
    joined(organization, Role.OWNER)
    member = joined(organization, role, "acting")
    other = joined(organization, Role.OBSERVER, "other")
    with refused("forbidden"):
        remove_member(organization.pk, acting(member), other.pk)
    remove_member(organization.pk, acting(member), member.pk)
    assert Activity.objects.filter(organization=organization).last().action == "member.left"  # type: ignore[union-attr]


def test_the_last_owner_stays(organization: Organization) -> None:
    owner = joined(organization, Role.OWNER)
    with refused("conflict"):
        remove_member(organization.pk, acting(owner), owner.pk)
    with refused("conflict"):
        change_role(organization.pk, OPERATOR, owner.pk, Role.ADMIN)
    joined(organization, Role.OWNER, "second")
    change_role(organization.pk, acting(owner), owner.pk, Role.MEMBER)


def test_who_is_removed_meanwhile_changes_nothing_more(organization: Organization) -> None:
    joined(organization, Role.OWNER)
    owner, other = joined(organization, Role.OWNER, "second"), joined(organization, Role.MEMBER)
    remove_member(organization.pk, OPERATOR, owner.pk)
    with refused("forbidden"):
        remove_member(organization.pk, acting(owner), other.pk)


def test_members_of_another_organization_are_as_if_they_did_not_exist(organization: Organization) -> None:
    elsewhere = create_organization("Elsewhere", "free")
    stranger = joined(elsewhere, Role.OWNER)
    with refused("not_found"):
        remove_member(organization.pk, OPERATOR, stranger.pk)
    with refused("forbidden"):
        create_member(organization.pk, acting(stranger), "new@example.com", Role.OBSERVER)


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

    leave = outcomes_at_once(lambda owner: remove_member(organization.pk, acting(owner), owner.pk), owners)
    assert leave == ["conflict", "done"]


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


def mails() -> list[CapturedMessage]:
    """The invitations' mails, the oldest first."""
    for task, arguments in jobs():
        if task == "mail_account":
            mail_account(arguments["sealed"])
    return list(CapturedMessage.objects.order_by("pk"))


def secret_in(mail: CapturedMessage) -> str:
    found = re.search(r"/invitations/([\w-]+)", mail.text)
    assert found
    return found[1]


def test_an_invited_person_joins_once_by_the_link_of_their_mail(owner: Member) -> None:
    invited(owner, " Bob@Example.com ", Role.ADMIN)
    [mail] = mails()
    assert mail.to == "bob@example.com" and mail.subject == "Join Analytical Engines"
    assert "Ada invites you to join Analytical Engines" in mail.text and "Admin" in mail.text and mail.html
    bob = User.objects.create(email="bob@example.com")
    member = accept_invitation(secret_in(mail), bob, Actor(ActorKind.MEMBER, bob.pk, bob.email))
    assert (member.organization_id, member.role) == (owner.organization_id, Role.ADMIN)
    with refused("expired"):
        accept_invitation(secret_in(mail), bob, Actor(ActorKind.MEMBER, bob.pk, bob.email))


def test_the_secret_is_in_the_mail_alone(owner: Member) -> None:
    invitation = invited(owner)
    waiting = str(jobs())
    secret = secret_in(mails()[0])
    assert secret not in waiting
    assert secret not in str(list(Activity.objects.values())) and secret.encode() != bytes(invitation.secret_sha256)


def test_what_an_organization_is_called_leads_nowhere_in_the_mail(owner: Member) -> None:
    Organization.objects.filter(pk=owner.organization_id).update(name="Win at https://evil.example now")
    invited(owner)
    assert "evil.example" not in mails()[0].text


def test_a_resend_makes_a_new_link_and_ends_the_old(owner: Member) -> None:
    invitation = invited(owner)
    resent(owner, invitation)
    old, new = (secret_in(mail) for mail in mails())
    bob = User.objects.create(email="bob@example.com")
    with refused("not_found"):
        accept_invitation(old, bob, OPERATOR)
    accept_invitation(new, bob, OPERATOR)


def test_links_are_valid_for_seven_days_and_a_resend_makes_it_seven_again(owner: Member) -> None:
    invitation = invited(owner)
    assert invitation.expires_at - clock.now() > timedelta(days=6, hours=23)
    Invitation.objects.update(expires_at=clock.now())
    bob = User.objects.create(email="bob@example.com")
    with refused("expired"):
        accept_invitation(secret_in(mails()[0]), bob, OPERATOR)
    assert resent(owner, invitation).expires_at - clock.now() > timedelta(days=6, hours=23)


def test_a_withdrawn_invitation_and_another_persons_let_nobody_in(owner: Member) -> None:
    invitation = invited(owner)
    secret = secret_in(mails()[0])
    with refused("forbidden"):
        accept_invitation(secret, User.objects.create(email="eve@example.com"), OPERATOR)
    withdraw_invitation(owner.organization_id, acting(owner), invitation.pk)
    with refused("expired"):
        accept_invitation(secret, User.objects.create(email="bob@example.com"), OPERATOR)
    with refused("not_found"):
        resent(owner, invitation)


def test_who_is_a_member_or_invited_is_not_invited_again(owner: Member) -> None:
    with refused("conflict"):
        invited(owner, "OWNER@example.com")
    invited(owner)
    with refused("conflict"):
        invited(owner, "BOB@example.com")
    with refused("validation_error"):
        invited(owner, "nobody")
    assert len(mails()) == 1


def test_nobody_invites_above_their_own_role(owner: Member) -> None:
    admin = create_member(owner.organization_id, OPERATOR, "admin@example.com", Role.ADMIN)
    observer = create_member(owner.organization_id, OPERATOR, "observer@example.com", Role.OBSERVER)
    elsewhere = create_member(create_organization("Elsewhere", "free").pk, OPERATOR, "other@example.com", Role.OWNER)
    by_owner = invited(owner, role=Role.ADMIN)
    for role in (Role.ADMIN, Role.OWNER):
        with refused("forbidden"):
            invited(admin, "new@example.com", role)
    with refused("forbidden"):
        resent(admin, by_owner)
    with refused("forbidden"):
        withdraw_invitation(owner.organization_id, acting(admin), by_owner.pk)
    with refused("forbidden"):
        invited(observer, "new@example.com", Role.OBSERVER)
    with refused("not_found"):
        resent(elsewhere, by_owner)
    invited(admin, "new@example.com", Role.OBSERVER)


def test_nobody_comes_back_by_an_invitation_of_their_own(owner: Member) -> None:
    other = create_member(owner.organization_id, OPERATOR, "other@example.com", Role.OWNER)
    ours, theirs = invited(owner, "kept@example.com", Role.OWNER), invited(other, "alias@example.com", Role.OWNER)
    lesser = invited(other, "lesser@example.com", Role.MEMBER)
    change_role(owner.organization_id, acting(owner), other.pk, Role.ADMIN)
    withdrawn = Invitation.objects.exclude(withdrawn_at=None).values_list("pk", flat=True)
    assert list(withdrawn) == [theirs.pk]
    remove_member(owner.organization_id, acting(owner), other.pk)
    assert set(withdrawn.all()) == {theirs.pk, lesser.pk} and ours.pk not in withdrawn


def test_an_organization_is_handed_over(owner: Member) -> None:
    heir = create_member(owner.organization_id, OPERATOR, "heir@example.com", Role.MEMBER)
    with refused("forbidden"):
        transfer_ownership(owner.organization_id, acting(heir), owner.pk)
    with refused("conflict"):
        transfer_ownership(owner.organization_id, acting(owner), owner.pk)
    transfer_ownership(owner.organization_id, acting(owner), heir.pk)
    assert {member.user.email: member.role for member in Member.objects.select_related("user")} == {
        "heir@example.com": Role.OWNER,
        "owner@example.com": Role.ADMIN,
    }


def test_twenty_invitations_a_day(owner: Member) -> None:
    for number in range(20):
        invited(owner, f"{number}@example.com")
    with refused("rate_limited"):
        invited(owner, "one-more@example.com")
    Invitation.objects.filter(email="0@example.com").update(created_at=clock.now() - timedelta(days=1))
    invited(owner, "one-more@example.com")
    acts = list(Activity.objects.filter(organization_id=owner.organization_id))
    assert [act.action for act in acts].count("member.invited") == 21


def test_thirty_resends_an_hour_from_one_network_in_all_organizations(owner: Member) -> None:
    other = create_member(create_organization("Elsewhere", "free").pk, OPERATOR, "other@example.com", Role.OWNER)
    ours = [invited(owner, f"{number}@example.com") for number in range(15)]
    theirs = [invited(other, f"{number}@example.com") for number in range(16)]
    for invitation in ours:
        resent(owner, invitation, "2001:db8::/64")
    for invitation in theirs[:15]:
        resent(other, invitation, "2001:db8::/64")
    with refused("rate_limited"):
        resent(other, theirs[15], "2001:db8::/64")
    resent(other, theirs[15], "2001:db8:1::/64")


def test_withdrawing_and_inviting_anew_counts_on(owner: Member) -> None:
    invitation = invited(owner)
    for _ in range(3):
        resent(owner, invitation)
    withdraw_invitation(owner.organization_id, acting(owner), invitation.pk)
    with refused("rate_limited"):
        resent(owner, invited(owner))


@pytest.mark.django_db(transaction=True)
def test_three_resends_a_member_in_ten_minutes_also_at_once(owner: Member) -> None:
    invitation = invited(owner)
    sent = outcomes_at_once(lambda _: resent(owner, invitation), range(6))
    assert sent == ["done"] * 3 + ["rate_limited"] * 3
    assert len(mails()) == 4, "what is refused sends nothing"


@pytest.mark.django_db(transaction=True)
def test_twenty_invitations_a_day_also_at_once(owner: Member) -> None:
    for number in range(18):
        invited(owner, f"{number}@example.com")
    sent = outcomes_at_once(lambda number: invited(owner, f"late-{number}@example.com"), range(6))
    assert sent == ["done"] * 2 + ["rate_limited"] * 4


@pytest.mark.django_db(transaction=True)
def test_thirty_resends_from_one_network_also_at_once_in_several_organizations(owner: Member) -> None:
    for number in range(28):
        count_resend(Invitation(organization=owner.organization, email=f"{number}@example.com"), "192.0.2.1")
    owners = [
        create_member(create_organization(f"Elsewhere {number}", "free").pk, OPERATOR, "o@example.com", Role.OWNER)
        for number in range(6)
    ]
    pairs = [(each, invited(each)) for each in owners]
    assert outcomes_at_once(lambda pair: resent(*pair), pairs) == ["done"] * 2 + ["rate_limited"] * 4
