"""The link in a mail with which a signer downloads their copy."""

from paraph.flow.messages.emails import CopyLink
from paraph.kernel import clock
from paraph.signature_requests import copy_ticket
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_token import signing_url


def copy_link(signer: Signer) -> CopyLink:
    """Makes a link that holds for :data:`paraph.signature_requests.copy_ticket.IN_MAIL`."""
    ticket = copy_ticket.ticket(signer, copy_ticket.IN_MAIL)
    return CopyLink(f"{signing_url(signer)}?ticket={ticket}", clock.now() + copy_ticket.IN_MAIL)
