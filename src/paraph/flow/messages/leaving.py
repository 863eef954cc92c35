"""Whether mails to a signer leave the service, before it promises any."""

from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.signature_requests.models import Signer
from paraph.tenants.confirmed_addresses import is_withheld


def mails_leave(signer: Signer) -> bool:
    """Return whether a mail server is handed what is written to the signer; otherwise it is kept or refused."""
    request = signer.request
    return has_gateway(EMAIL) and not is_withheld(request.organization_id, request.environment, signer.email)
