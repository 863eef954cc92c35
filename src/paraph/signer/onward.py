"""Where signers may go on once they have signed: the page that the request's creator named."""

from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from django.utils.html import format_html
from django.utils.safestring import SafeString

from paraph.outbound.url import ascii_host
from paraph.signature_requests.models import Signer


class Onward(NamedTuple):
    """Where a signer may go on. ``host``: what the page calls the place, with its port, as
    :func:`paraph.outbound.url.ascii_host` has it."""

    address: str
    host: str

    @property
    def shown_host(self) -> SafeString:
        return format_html("<bdi>{}</bdi>", self.host)


def onward(signer: Signer) -> Onward | None:
    """Return the address with the ids of request and signer in its query."""
    if not signer.request.redirect_url:
        return None
    parts = urlsplit(signer.request.redirect_url)
    ids = urlencode({"signature_request_id": signer.request_id, "signer_id": signer.pk})
    query = f"{parts.query}&{ids}" if parts.query else ids
    return Onward(parts._replace(query=query).geturl(), ascii_host(signer.request.redirect_url))
