"""Browsers that have just said who they are, as after a log-in with a password."""

import time

from django.test import Client


def proved(client: Client, seconds_ago: float = 0) -> Client:
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - seconds_ago}]
    session.save()
    return client
