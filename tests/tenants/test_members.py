"""Who may make, change and remove members, also when several do so at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import OPERATOR, Actor
from paraph.tenants.members import change_role, create_member, remove_member
from paraph.tenants.models import Activity, ActorKind, Member, Organization, Role, User
from tests.tenancy import create_organization


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

    def leave(owner: Member) -> str:
        try:
            remove_member(organization.pk, acting(owner), owner.pk)
            return "left"
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(leave, owners)) == ["conflict", "left"]
