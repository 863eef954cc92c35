"""Every role at each address of members, activity, plan and settings; strangers, and members of others."""

from collections.abc import Callable

import pytest
from django.test import Client

from paraph.tenants.models import Member, Organization, Role
from tests.dashboard.conftest import MemberClient
from tests.dashboard.proof import proved
from tests.tenancy import create_organization

LogIn = Callable[..., MemberClient]
READ = ("members", "activity", "plan", "settings")
ACTS = {  # which roles may post to an address at all; what becomes of it is tested elsewhere
    "members": "owner admin",
    "members/{other}": "owner admin",
    "members/{other}/remove": "owner admin",
    "members/{other}/transfer": "owner",
    "members/leave": "owner admin member observer",
    "members/invitations/1/resend": "owner admin",
    "members/invitations/1/withdraw": "owner admin",
    "settings": "owner admin",
    "settings/retention": "owner",
    "settings/delete": "owner",
    "activity/export": "owner admin observer",
}


@pytest.mark.parametrize("role", Role.values)
def test_roles(log_in: LogIn, organization: Organization, role: str) -> None:
    log_in(Role.OWNER)
    other, _ = log_in(Role.OBSERVER)
    for address, roles in ACTS.items():
        member, client = log_in(role)
        answer = proved(client).post(f"/app/{organization.pk}/{address.format(other=other.pk)}", {"role": "nobody"})
        assert (answer.status_code == 403) == (role not in roles.split()), address
        Member.objects.filter(pk=member.pk).delete()
    _, client = log_in(role)
    for address in READ:
        assert client.get(f"/app/{organization.pk}/{address}").status_code == 200


def test_strangers_and_members_of_other_organizations(log_in: LogIn, organization: Organization) -> None:
    other, _ = log_in()
    _, elsewhere = log_in(Role.OWNER, at=create_organization("Elsewhere", "pro"))
    proved(elsewhere)
    for address in (*READ, *ACTS):
        path = f"/app/{organization.pk}/{address.format(other=other.pk)}"
        for method in ("get", "post"):
            assert getattr(elsewhere, method)(path).status_code == 404, path
            sent = getattr(Client(), method)(path)
            assert sent.headers["Location"].startswith("/account/login/"), path
    assert Member.objects.filter(pk=other.pk).exists()
