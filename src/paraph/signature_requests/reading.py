"""One request as the API shows it, in one statement."""

import json
from typing import Any

from django.db import connection

from paraph.organizations.scope import Caller
from paraph.signature_requests.signing_token import url_of
from paraph.signature_requests.values import LARGEST_ID

LARGE = ("signature", "initials")  # of a signer; nobody reads a list for their strokes

# The function, and why it is one: signature_requests/migrations/0005_read.py.
_READ = "SELECT signature_requests_read(%s, %s, %s)"


def read(caller: Caller, request_id: int) -> dict[str, Any] | None:
    """The caller's request with its signers, document ids and branding profile (specification 2.2), without
    ``download_urls``. None for one that they may not see: as in ``scoped``, organization *and* environment."""
    if request_id > LARGEST_ID:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_READ, [caller.organization_id, caller.environment, request_id])
        [text] = cursor.fetchone()
    if text is None:
        return None
    content: dict[str, Any] = json.loads(text)
    for signer in content["signers"]:
        salt = signer["signing_url"]
        signer["signing_url"] = salt and url_of(signer["id"], bytes.fromhex(salt))
    return content
