"""How a person logs in concerns all organizations that they belong to: changes stand in their logs."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed
from django.test import Client, RequestFactory

from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member
from paraph.tenants.models import Activity, Organization, Role
from tests.tenancy import create_organization

PASSWORD = "a long enough phrase"


@pytest.fixture
def client(organization: Organization) -> Client:
    """Ada's, who belongs to two organizations."""
    create_member(organization.pk, OPERATOR, "ada@example.com", Role.OWNER, password=PASSWORD)
    create_member(create_organization("Elsewhere", "free").pk, OPERATOR, "ada@example.com", Role.MEMBER)
    client = Client(REMOTE_ADDR="203.0.113.7")
    client.post("/account/login/", {"login": "ada@example.com", "password": PASSWORD})
    return client


def test_a_new_password_is_noted_in_each_organization(client: Client) -> None:
    new = {"oldpassword": PASSWORD, "password1": "another long phrase", "password2": "another long phrase"}
    assert client.post("/account/password/change/", new).status_code == 303
    acts = Activity.objects.filter(action="account.password_changed")
    assert len({act.organization_id for act in acts}) == len(acts) == 2
    assert {(act.actor, act.ip) for act in acts} == {("ada@example.com", "203.0.113.7")}
    assert "phrase" not in str(Activity.objects.values())


def test_a_second_factor_that_comes_or_goes_is_noted(client: Client, organization: Organization) -> None:
    user = organization.members.get().user
    factor = Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    for signal in (authenticator_added, authenticator_removed):
        signal.send(sender=Authenticator, request=RequestFactory().get("/"), user=user, authenticator=factor)
    acts = Activity.objects.filter(organization=organization, actor_kind="member")
    assert [act.action for act in acts] == ["account.second_factor_added", "account.second_factor_removed"]
