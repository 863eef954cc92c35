"""Pages that a member opened on their own device, for a signer who is there."""

from django.http import HttpRequest

from paraph.signature_requests.models import Signer
from paraph.signature_requests.tickets import member_of


def ticket_of(request: HttpRequest, signer: Signer) -> dict[str, str]:
    """Return ``in_person``, the ticket of a page on a member's device, which all pages that follow keep; {} for
    others."""
    ticket = request.GET.get("in_person", "")
    return {"in_person": ticket} if ticket and member_of(signer, ticket) else {}
