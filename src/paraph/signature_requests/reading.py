"""One request as the API shows it, in one statement."""

import re
from json.encoder import encode_basestring

from paraph.organizations.admission import Prefetch
from paraph.signature_requests.signing_token import url_of
from paraph.signature_requests.values import LARGEST_ID

# Of a signer; nobody reads a list for their strokes.
LARGE = ("signature", "initials", "signature_encrypted", "initials_encrypted")

# The function, and why it is one: signature_requests/migrations/0007_shown.py.
_READ = "signature_requests_shown(caller.organization_id, caller.environment, $4)"

# No text of a client's looks like this: within a string of JSON, a backslash stands before every quotation mark.
_URL = re.compile(rb'(?<=,"signing_url":)"([0-9]+)\.([0-9a-f]+)"')


def reading(request_id: int) -> Prefetch | None:
    """Reads the caller's request with its signers, document ids and branding profile, for :func:`shown`. Nothing that
    they may not see: as in ``scoped``, organization *and* environment."""
    return Prefetch(_READ, request_id) if request_id <= LARGEST_ID else None


def shown(found: bytes) -> bytes:
    """What :func:`reading` has read, as JSON in the form of specification 2.2, without ``download_urls``."""
    return _URL.sub(_signing_url, found)


def is_finalized(found: bytes) -> bool:
    """Whether what :func:`reading` has read is a finalized request, which has ``download_urls`` once it is completed
    (specification 4.7)."""
    return found.endswith(b',"finalized":true}')


def _signing_url(place: re.Match[bytes]) -> bytes:
    signer_id, salt = place.groups()
    return encode_basestring(url_of(int(signer_id), bytes.fromhex(salt.decode()))).encode()
