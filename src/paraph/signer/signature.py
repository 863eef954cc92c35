"""``POST /sign/{token}/signature``."""

from typing import Any

from django.http import HttpRequest

from paraph.flow.sign import sign
from paraph.journal.client_address import origin
from paraph.kernel import clock
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signer.door import posted
from paraph.signer.signature_body import read


@posted
def signature(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> dict[str, Any]:
    """Body: :mod:`paraph.signer.signature_body`. Who may not sign is told so before their body is looked at."""
    require_open(signer)
    signed = sign(signer, read(body, signer.request), origin(request))
    assert signed.signed_at
    return {
        "status": signed.status,
        "signed_at": clock.iso(signed.signed_at),
        "signature_request": {"id": signed.request_id, "status": signed.request.status},
    }
