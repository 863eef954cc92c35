"""``POST /sign/{token}/otp`` (specification 4.11)."""

from typing import Any

from django.http import HttpRequest

from paraph import words
from paraph.flow.signing.send_otp import send_otp
from paraph.server.client_address import origin
from paraph.signature_requests.models import Signer
from paraph.signer import language
from paraph.signer.door import posted
from paraph.words import phrase
from paraph.words.refusal import translated


@posted
def otp(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> dict[str, Any]:
    """Body: ``channel``, and ``locale``, the language of the page, in which the code is sent and the answer speaks.

    Answer: ``message``, ``channel`` and, in sandbox only, ``sandbox_code``.
    """
    channel = body.get("channel")
    if not isinstance(channel, str):
        raise translated("validation_error", "field_choice", field="channel", values="email, sms")
    locale = language.choose(request, signer, body.get("locale"))
    sent = send_otp(signer, channel, origin(request), locale)
    told = words.of("answer", language.of_answer(request, signer, body.get("locale")))
    content = {"message": phrase(told, "code_sent", recipient=sent.recipient), "channel": sent.channel}
    return content if sent.sandbox_code is None else {**content, "sandbox_code": sent.sandbox_code}
