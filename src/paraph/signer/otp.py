"""``POST /sign/{token}/otp`` (specification 4.11)."""

from typing import Any

from django.http import HttpRequest

from paraph.flow.send_otp import send_otp
from paraph.journal.client_address import origin
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Signer
from paraph.signer import language
from paraph.signer.door import posted


@posted
def otp(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> dict[str, Any]:
    """Body: ``channel``, and ``locale``, the language of the page.

    Answer: ``message``, ``channel`` and, in sandbox only, ``sandbox_code``.
    """
    channel = body.get("channel")
    if not isinstance(channel, str):
        raise DomainError("validation_error", 'channel must be "email" or "sms".')
    locale = language.choose(request, signer, body.get("locale"))
    sent = send_otp(signer, channel, origin(request), locale)
    content = {"message": sent.message, "channel": sent.channel}
    return content if sent.sandbox_code is None else {**content, "sandbox_code": sent.sandbox_code}
