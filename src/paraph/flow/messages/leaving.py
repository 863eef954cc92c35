"""Finding out whether mails to a signer leave the service, before it promises any."""

from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.signature_requests.models import Signer
from paraph.tenants.confirmed_addresses import is_withheld


def mails_leave(signer: Signer) -> bool:
    """Return whether mails to the signer are handed to a mail server; otherwise they are kept or refused."""
    request = signer.request
    return has_gateway(EMAIL) and not is_withheld(request.organization_id, request.environment, signer.email)
