"""``POST otp``: send a code; and what the signing page shows of the newest one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest

from paraph import words
from paraph.flow.signing.send_otp import is_kept, masked, send_otp
from paraph.kernel import clock
from paraph.otp.models import OneTimeCode
from paraph.server.client_address import origin
from paraph.signature_requests.models import Signer
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import language
from paraph.signer.authentication import posted
from paraph.words import phrase

_PAUSE = timedelta(seconds=30)  # before the page offers another: a mail takes a while


@dataclass(frozen=True)
class CurrentCode:
    """``is_kept``: nothing sends it. ``wait``: seconds until the page offers to send another."""

    channel: str
    recipient: str
    is_kept: bool
    sent_at: datetime
    wait: int


def sent_code(signer: Signer) -> CurrentCode | None:
    """Return the newest code, while it can be used; None where none was sent or its time is over."""
    now = clock.now()
    code = OneTimeCode.objects.filter(signer=signer).first()
    if code is None or code.sent_at is None or code.used_at or code.expires_at <= now:
        return None
    wait = max(0, round((code.sent_at + _PAUSE - now).total_seconds()))
    pause = min(wait, int(_PAUSE.total_seconds()))
    return CurrentCode(code.channel, masked(code.destination), is_kept(signer, code.channel), code.sent_at, pause)


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
    spoken = language.of_answer(request, signer, body.get("locale"))
    if sent.is_kept:
        return {"message": language.words(spoken)["code_kept"], "channel": sent.channel}
    told = words.of("answer", spoken)
    content = {"message": phrase(told, "code_sent", recipient=sent.recipient), "channel": sent.channel}
    return content if sent.sandbox_code is None else {**content, "sandbox_code": sent.sandbox_code}
