"""A browser in which a member has just said who they are, so that what wants re-authentication is open."""

from django.test import Client

from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member
from paraph.tenants.models import Organization

PASSWORD = "a long enough phrase"


def just_logged_in(organization: Organization, role: str) -> Client:
    email = f"fresh-{role}-{organization.pk}@example.com"
    create_member(organization.pk, OPERATOR, email, role, password=PASSWORD)
    client = Client()
    assert client.post("/account/login/", {"login": email, "password": PASSWORD}).status_code == 303
    return client
