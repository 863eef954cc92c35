"""A browser in which somebody has just said who they are."""

import time

from django.test import Client


def just_logged_in(client: Client) -> Client:
    """Notes a log-in by password, as allauth does, in the session of a client that was logged in without one."""
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
    session.save()
    return client
