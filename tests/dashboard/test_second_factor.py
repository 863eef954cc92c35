"""The second factor: an authenticator app and recovery codes, kept encrypted."""

import base64
import hmac
import re
import struct
import time

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member
from paraph.tenants.models import Organization, Role

pytestmark = pytest.mark.usefixtures("nothing_counted")

PASSWORD = "a long enough phrase"


def log_in(client: Client) -> str:
    return str(client.post("/account/login/", {"login": "ada@example.com", "password": PASSWORD})["Location"])


def code(secret: str) -> str:
    """What an authenticator app shows (RFC 6238)."""
    mac = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    place = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[place : place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


def test_a_second_factor_is_asked_for_after_the_password(organization: Organization) -> None:
    create_member(organization.pk, OPERATOR, "ada@example.com", Role.OWNER, password=PASSWORD)
    client = Client()
    log_in(client)
    asked = client.get("/account/2fa/totp/activate/")["Location"]
    client.post(asked, {"password": PASSWORD})
    page = client.get("/account/2fa/totp/activate/").content.decode()
    assert "<svg" in page and "data:image" not in page and "<?xml" not in page
    found = re.search(r"<code>([A-Z2-7]+)</code>", page)
    assert found
    secret = found[1]
    wrong = client.post("/account/2fa/totp/activate/", {"code": "000000" if code(secret) != "000000" else "000001"})
    assert wrong.status_code == 422
    assert client.post("/account/2fa/totp/activate/", {"code": code(secret)}).status_code == 303
    assert all(secret not in str(each.data) for each in Authenticator.objects.all()), "kept encrypted"
    codes = client.get("/account/2fa/recovery-codes/").content.decode()
    recovery = re.findall(r"\b\d{8}\b", codes.partition("<textarea")[2].partition("</textarea>")[0])
    assert len(recovery) == 10

    entering = Client()
    assert log_in(entering) == "/account/2fa/authenticate/"
    assert entering.get(f"/app/{organization.pk}/").status_code == 302, "not with the password alone"
    assert entering.post("/account/2fa/authenticate/", {"code": "abcdefgh"}).status_code == 422
    assert entering.post("/account/2fa/authenticate/", {"code": recovery[0]}).status_code == 303
    assert entering.get(f"/app/{organization.pk}/").status_code == 200

    again = Client()
    log_in(again)
    assert again.post("/account/2fa/authenticate/", {"code": recovery[0]}).status_code == 422, "each code once"
