"""``POST /sign/{token}/signature``."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from paraph.flow.signing.sign import sign
from paraph.kernel import clock
from paraph.server.client_address import origin
from paraph.signature_requests import copy_ticket
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signer import answers
from paraph.signer.door import posted
from paraph.signer.signature_body import read


@posted
def signature(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> HttpResponse:
    """Body: :mod:`paraph.signer.signature_body`. Who may not sign is told so before their body is looked at. The header
    ``X-Copy-Ticket`` lets the page that signed download the sealed files for a quarter of an hour."""
    require_open(signer)
    signed = sign(signer, read(body, signer.request), origin(request))
    assert signed.signed_at
    response = answers.answer(
        {
            "status": signed.status,
            "signed_at": clock.iso(signed.signed_at),
            "signature_request": {"id": signed.request_id, "status": signed.request.status},
        }
    )
    response["X-Copy-Ticket"] = copy_ticket.ticket(signed, copy_ticket.AFTER_SIGNING)
    return response
