"""One request as the API shows it, in one statement."""

import json
from typing import Any

from paraph.organizations.admission import Also
from paraph.signature_requests.signing_token import url_of
from paraph.signature_requests.values import LARGEST_ID

LARGE = ("signature", "initials")  # of a signer; nobody reads a list for their strokes

# The function, and why it is one: signature_requests/migrations/0005_read.py.
_READ = "signature_requests_read(caller.organization_id, caller.environment, %s)"


def reading(request_id: int) -> Also | None:
    """Reads the caller's request with its signers, document ids and branding profile, for :func:`shown`. Nothing that
    they may not see: as in ``scoped``, organization *and* environment."""
    return Also(_READ, (request_id,)) if request_id <= LARGEST_ID else None


def shown(text: str) -> dict[str, Any]:
    """What :func:`reading` has read, as in specification 2.2, without ``download_urls``."""
    content: dict[str, Any] = json.loads(text)
    for signer in content["signers"]:
        salt = signer["signing_url"]
        signer["signing_url"] = salt and url_of(signer["id"], bytes.fromhex(salt))
    return content
