"""Browsers that have just said who they are, as after a log-in with a password."""

from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth import get_user
from django.test import Client, RequestFactory


def proved(client: Client, seconds_ago: float = 0) -> Client:
    """``client`` is logged in."""
    request = RequestFactory().get("/")
    request.session = client.session
    record_authentication(request, get_user(request), "password")
    for record in request.session["account_authentication_methods"]:
        record["at"] -= seconds_ago
    request.session.save()
    return client
