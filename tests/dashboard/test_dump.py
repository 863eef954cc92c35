"""A dump of the database opens nothing: none of its columns holds what lets somebody in."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.backends import db
from django.test import Client

from paraph.dashboard.members import mail_invitation
from paraph.signature_requests.links import copy_url, in_person_ticket, token
from paraph.signature_requests.links import ticket as ticket_for_copy
from paraph.signature_requests.models import CopyRecipient
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.applications import rotate_application
from paraph.tenants.members import create_member, invite
from paraph.tenants.models import Application, Organization, Role
from tests.columns import columns, found_in, readings
from tests.dashboard.conftest import PASSWORD, account_mails, scene
from tests.dashboard.test_accounts import code, log_in, recovery_codes, setting_up
from tests.tenancy import create_application

pytestmark = pytest.mark.usefixtures("nothing_counted")


def links(kind: str) -> list[str]:
    """Return the last part of each link of this kind in mails about accounts."""
    texts = "\n".join(mail.text for mail in account_mails())
    return [address.strip("/").rpartition("/")[2] for address in re.findall(rf"http://\S+{kind}\S+", texts)]


def new_password() -> list[str]:
    """The key of the link that a browser follows, which its session keeps until the password is set."""
    client = Client()
    client.post("/account/password/reset/", {"email": "ada@example.com"})
    [key] = links("/account/password/reset/key/")
    client.get(f"/account/password/reset/key/{key}/")
    return [key.partition("-")[2]]


def new_address() -> list[str]:
    client = Client()
    log_in(client, "eve@example.com")
    asked = client.post("/account/email/", {"email": "eve@new.example", "action_add": "1"})
    client.post(asked["Location"], {"password": PASSWORD})
    return links("/account/confirm-email/")


def of_a_member(organization: Organization) -> dict[str, list[str]]:
    create_member(organization.pk, OPERATOR, "ada@example.com", Role.OWNER, password=PASSWORD)
    made, secrets = {"password": [PASSWORD], "new password": new_password()}, []
    for client in (Client(), Client()):
        log_in(client)
        secrets += re.findall(r"<code>([A-Z2-7]+)</code>", setting_up(client))
    client.post("/account/2fa/totp/activate/", {"code": code(secrets[1])})
    made |= {
        "set-up authenticator": secrets[:1],
        "authenticator": secrets[1:],
        "recovery codes": recovery_codes(client),
    }
    made["session"] = [client.cookies[settings.SESSION_COOKIE_NAME].value]
    made["csrf"] = [client.cookies[settings.CSRF_COOKIE_NAME].value]
    create_member(organization.pk, OPERATOR, "eve@example.com", Role.MEMBER, password=PASSWORD)
    made["new address"] = new_address()
    mail_invitation(invite(organization.pk, OPERATOR, "bob@example.com", Role.MEMBER))
    made["invitation"] = links("/invitations/")
    return made


def of_an_application(organization: Organization) -> dict[str, list[str]]:
    made = create_application(organization.pk, "production", "shop")
    newer = rotate_application(OPERATOR, Application.objects.get(), timedelta(hours=1))
    return {
        "key": [made.api_key],
        "newer key": [newer.api_key],
        "webhook secret": [made.webhook_secret],
        "newer webhook secret": [newer.webhook_secret],
    }


def of_a_request() -> dict[str, list[str]]:
    made = scene(copies=1, environment="production")
    [signer] = made.signers
    return {
        "signing link": [token(signer)],
        "code": [made.code()],
        "copy link": [copy_url(CopyRecipient.objects.get())[0].rpartition("/")[2]],
        "ticket for the copy": [ticket_for_copy(signer, timedelta(hours=1))],
        "ticket in person": [in_person_ticket(signer, 1)],
    }


def test_what_lets_somebody_in_stands_in_no_column(organization: Organization) -> None:
    secrets = of_a_member(organization) | of_an_application(organization) | of_a_request()
    assert [name for name, texts in secrets.items() if not texts or not all(texts)] == []
    assert found_in(secrets) == set()


def test_no_value_of_the_database_is_a_session(organization: Organization) -> None:
    create_member(organization.pk, OPERATOR, "ada@example.com", Role.OWNER, password=PASSWORD)
    log_in(client := Client())
    assert client.get("/account/").status_code == 200
    kept = {reading for table, _, value in columns() if "session" in table for reading in readings(value)}
    assert len(kept) > 2
    for value in kept:
        client.cookies[settings.SESSION_COOKIE_NAME] = value.replace("\0", "")
        assert client.get("/account/").status_code == 302, value


def test_the_search_finds_what_stands_there(organization: Organization) -> None:
    secret = "5e6f" * 16
    left = db.SessionStore()
    left["left"] = secret
    left.save()
    Organization.objects.filter(pk=organization.pk).update(name=f"the key {secret} and the code 246813.")
    Application.objects.create(organization=organization, name="shop", webhook_secret_encrypted=secret.encode())
    Application.objects.create(
        organization=organization, name="f246813", webhook_secret_encrypted=bytes.fromhex("7e246813")
    )
    assert found_in({"it": [secret], "code": ["000000", "246813"]}) == {
        "it: organizations_organization.name",
        "it: django_session.session_data",
        "it: organizations_application.webhook_secret_encrypted",
        "code: organizations_organization.name",
    }
