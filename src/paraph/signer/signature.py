"""``POST /sign/{token}/otp``: send a code; ``POST /sign/{token}/signature``: sign with it. An optional field of a body
that is null counts as absent."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from pydantic import Field, ValidationError, WithJsonSchema

from paraph import words
from paraph.flow.signing.sign import Signature, is_kept, send_otp, shown_disclosure, sign
from paraph.kernel import clock
from paraph.otp.codes import six_digits
from paraph.server.client_address import origin
from paraph.signature_requests import links
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.links import member_of
from paraph.signature_requests.localized import Sentence, TranslatedRefusal, translated
from paraph.signature_requests.marks import LONGEST_TEXT, Body, Typed, TypedOrDrawn, dumped, sentences
from paraph.signature_requests.models import Channel, Signer
from paraph.signature_requests.signing import require_open
from paraph.signer import answers, language
from paraph.signer.described import ABSENT, DRAWN, Answer, described
from paraph.signer.endpoints import posted
from paraph.signer.fields import ENTERED_IN, EnteredFields
from paraph.words import LOCALES, phrase


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


class SignatureBody(Body):
    code: str = Field(max_length=LONGEST_TEXT, description="The newest code. Spaces and words around it do no harm.")
    consent: bool = Field(strict=True, description="`true`: the signer has accepted the consent notice.")
    signature: TypedOrDrawn | None = Field(
        None,
        description="How the signature looks; the typed name where it is left out. Approvers must leave it out. Both "
        "coordinates of a drawing are divided by the same length, the longer side, or each by its own, and then "
        "`aspect` says so. A drawing without a line, as of taps alone, is refused.",
    )
    initials: Annotated[TypedOrDrawn, WithJsonSchema({"type": "object"})] | None = Field(
        None, description="Of the same form; required of signers where the request wants initials, else left out."
    )
    locale: str | None = Field(
        None,
        description="The language in which the consent notice was accepted; the request's by default.",
        json_schema_extra={"enum": list(LOCALES)},
    )
    esign_disclosure: str = Field("", description="The version of the ESIGN disclosure, where the page shows it.")
    fields: EnteredFields = Field(None, description=ENTERED_IN)
    in_person: str | None = Field(
        None, description="Of the page that a member opens on their own device, from the dashboard: its ticket."
    )
    example = ("A drawn signature", {"code": "244283", "consent": True, "signature": DRAWN, "locale": "en"})


class SignedRequest(Answer):
    id: int = Field(description="Its id.")
    status: str = Field(
        description="`completed` once everybody has signed.", json_schema_extra={"enum": ["pending", "completed"]}
    )


class Signed(Answer):
    status: Literal["signed"] = Field(description="The signer's.")
    signed_at: str = Field(description="The moment that counts.", json_schema_extra={"format": "date-time"})
    signature_request: SignedRequest = Field(description="The request that was signed.")
    example = (
        "The last one has signed",
        {
            "status": "signed",
            "signed_at": "2030-05-17T08:30:12Z",
            "signature_request": {"id": 71, "status": "completed"},
        },
    )


def read(body: dict[str, Any], signer: Signer) -> Signature:
    """Return the signature that a body gives. Raise ``DomainError("validation_error", …)`` naming the wrong fields."""
    try:
        checked = SignatureBody.model_validate(body)
    except ValidationError as error:
        raise TranslatedRefusal("validation_error", *sentences(error)) from error
    locale = signer.request.locale if checked.locale is None else checked.locale
    member_id = member_of(signer, checked.in_person) if checked.in_person else None
    if problems := list(_problems(checked, signer, member_id, locale)):
        raise TranslatedRefusal("validation_error", *problems)
    return Signature(
        code=six_digits(checked.code),
        signature=None if signer.is_approver else dumped(checked.signature or Typed(type="typed")),
        initials=dumped(checked.initials) if checked.initials else None,
        locale=locale,
        fields=filled_fields(signer, checked.fields, locale),
        member_id=member_id,
        disclosure=checked.esign_disclosure,
    )


def _problems(body: SignatureBody, signer: Signer, member_id: int | None, locale: str) -> Iterator[Sentence]:
    if not body.consent:
        yield "consent", {"field": "consent"}
    if body.esign_disclosure != shown_disclosure(signer):
        yield "field_choice", {"field": "esign_disclosure", "values": f'"{shown_disclosure(signer)}"'}
    wants_initials = signer.request.initials_required and not signer.is_approver
    if signer.is_approver and body.signature is not None:  # an approver draws nothing
        yield "field_surplus", {"field": "signature"}
    if wants_initials and body.initials is None:
        yield "field_missing", {"field": "initials"}
    if body.initials is not None and not wants_initials:
        yield "field_surplus", {"field": "initials"}
    if body.in_person and member_id is None:
        yield "field_surplus", {"field": "in_person"}
    if locale not in LOCALES:
        yield "field_choice", {"field": "locale", "values": ", ".join(LOCALES)}


@posted
@described(
    "POST /signature", "sign", "The signature is recorded. Sealing follows the last one.", Signed, body=SignatureBody
)
def signature(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> HttpResponse:
    """Sign.

    Signs all documents of the signer with the newest code. Each code has five attempts in its 10 minutes; after that it
    is void, and a new one gives five more. After twenty wrong ones within 24 hours the signer is locked for 24 hours,
    in which no code is sent either.

    Where the signer has fields, the error of a 422 may have `fields`: what is wrong or missing, each with
    `document_id`, `name` and `message`. No attempt is counted then.

    The header `X-Copy-Ticket` of the answer opens the sealed files for 15 minutes.
    """
    require_open(signer)
    signed = sign(signer, read(body, signer), origin(request))
    assert signed.signed_at
    signed_request = SignedRequest(id=signed.request_id, status=str(signed.request.status))
    moment = clock.iso(signed.signed_at)
    response = answers.answer(Signed(status="signed", signed_at=moment, signature_request=signed_request))
    response["X-Copy-Ticket"] = links.ticket(signed, links.AFTER_SIGNING)
    return response
