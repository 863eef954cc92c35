"""``POST otp``: send a code."""

from typing import Any, Literal

from django.http import HttpRequest
from pydantic import Field

from paraph import words
from paraph.flow.signing.send_otp import is_kept, send_otp
from paraph.server.client_address import origin
from paraph.signature_requests.localized import translated
from paraph.signature_requests.marks import Body
from paraph.signature_requests.models import Channel, Signer
from paraph.signer import language
from paraph.signer.described import ABSENT, Answer, described
from paraph.signer.endpoints import posted
from paraph.words import phrase


class CodeBody(Body):
    channel: Literal["email", "sms"] = Field(
        description="The one named when the request was created; where none was named `email`, and `sms` too where a "
        "phone is known and the plan allows it."
    )
    locale: str | None = Field(
        None,
        description="The language of the code's message and of the answer: one of the twenty. By default that of the "
        "page.",
    )
    example = ("By e-mail", {"channel": "email"})


class CodeSent(Answer):
    message: str = Field(description="Where it went.")
    channel: str = Field(description="How it went.", json_schema_extra={"enum": ["email", "sms"]})
    sandbox_code: str = Field(ABSENT, description="The code, in sandbox only.")
    example = (
        "In sandbox",
        {"message": "A code was sent to z•••@example.com.", "channel": "email", "sandbox_code": "244283"},
    )


def not_sent(signer: Signer, channel: str, locale: str) -> str:
    """Say why codes of the signer stay with the service; "" where something sends them."""
    word = "no_sms_gateway" if channel == Channel.SMS else "no_mail_server"
    return str(words.of("answer", locale)[word]) if is_kept(signer, channel) else ""


@posted
@described("POST /otp", "sendCode", "The code was sent.", CodeSent, body=CodeBody)
def otp(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> CodeSent:
    """Send a one-time code.

    Sends six digits that are valid for 10 minutes. Only the newest code counts, and at most five are sent in 10
    minutes. None is sent while it would not be taken, because too many wrong ones were entered; `Retry-After` says
    until when.
    """
    channel = body.get("channel")
    if not isinstance(channel, str):
        raise translated("validation_error", "field_choice", field="channel", values="email, sms")
    sent = send_otp(signer, channel, origin(request), language.choose(request, signer, body.get("locale")))
    answered = language.of_answer(request, signer, body.get("locale"))
    if sent.is_kept:
        return CodeSent(message=not_sent(signer, sent.channel, answered), channel=sent.channel)
    code = {} if sent.sandbox_code is None else {"sandbox_code": sent.sandbox_code}
    message = phrase(words.of("answer", answered), "code_sent", recipient=sent.recipient)
    return CodeSent(message=message, channel=sent.channel, **code)
