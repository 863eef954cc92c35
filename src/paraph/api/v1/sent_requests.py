"""What is done with a request that was sent: ending it, giving it more time, and reminding or correcting a signer."""

from functools import partial

from django.http import HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1 import call
from paraph.api.v1.codes import CHANGE, JSON, TooEarlyError, refused
from paraph.api.v1.endpoint import KEY, ApiRequest, Body, actor, operation
from paraph.api.v1.signature_request_shapes import Answer, SignatureRequest, Signer, own
from paraph.api.v1.signature_requests import shown
from paraph.flow.ending import end_own_early
from paraph.flow.sending.correct import correct_signer as correct
from paraph.flow.sending.correct import extend
from paraph.flow.sending.invite import RemindedLatelyError, remind
from paraph.kernel.errors import DomainError
from paraph.server.client_address import origin
from paraph.signature_requests.input import Correction, End, Extend
from paraph.signature_requests.payload import read_small


@operation(
    "endSignatureRequest",
    "POST /signature_requests/{request_id}/end",
    SignatureRequest,
    "The request, `expired` and `ended_early`.",
    accepts=(KEY,),
    body=Body(End, "Why."),
    refuses=(*CHANGE, *JSON, "conflict_over:end", "validation_reason:end", "validation_json:end"),
)
def end_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """End a signature request early.

    Withdraws a pending request. Its status becomes `expired`, nobody can sign any more, and signatures given so far
    don't count. Audit log and webhooks say why. With `send_email`, everyone who was invited gets a mail that says when
    you withdrew it, and why.
    """
    own(request.scope, request_id)
    with call.key_of(request) as key:
        content = call.read_object(request)
        reason = read_small(End, content).reason
        act = partial(end_own_early, request.scope, actor(request), request_id, reason)
        return call.done_once(key, content, request_id, act, partial(shown, request.scope, request_id))


@operation(
    "remindSigner",
    "POST /signature_requests/{request_id}/signers/{signer_id}/remind",
    Signer,
    "The signer. The mail is on its way; the audit log tells when the mail server has it.",
    accepts=(KEY,),
    refuses=(
        *CHANGE, "conflict_signed", "conflict_over:remind", "conflict_turn", "conflict_not_invited",
        "conflict_no_mails", "conflict_most", "rate_limited_reminder",
    ),
)  # fmt: skip
def remind_signer(request: ApiRequest, request_id: int, signer_id: int) -> HttpResponse:
    """Remind a signer.

    Mails a reminder to a signer who may sign now: at most once in 24 hours and five times in all, together
    with the reminders that members send from the dashboard. For requests with `send_email`. There is no body. An
    invitation that was refused for good is sent again in place of a reminder.
    """
    _signer(request, request_id, signer_id)

    def ask() -> None:
        try:
            remind(request.scope, request_id, signer_id, actor(request))
        except RemindedLatelyError as early:
            raise TooEarlyError(early.message, early.retry_after) from early
        except DomainError as refusal:
            raise DomainError("conflict", refusal.message) from refusal

    with call.key_of(request) as key:  # a body is not looked at: there is nothing to say
        return call.done_once(key, None, signer_id, ask, partial(_signer, request, request_id, signer_id))


@operation(
    "correctSigner",
    "POST /signature_requests/{request_id}/signers/{signer_id}/correct",
    SignatureRequest,
    "The request, with the signer as corrected.",
    accepts=(KEY,),
    body=Body(Correction, "What to put right."),
    refuses=(
        *CHANGE, *JSON, "already_signed:correct", "conflict_over:correct", "conflict_links",
        "forbidden_sms:correct", "validation_correction",
    ),
)  # fmt: skip
def correct_signer(request: ApiRequest, request_id: int, signer_id: int) -> HttpResponse:
    """Correct a signer.

    Puts right the name of a signer who has not signed, or how they are reached. Another `email`, `phone` or
    `otp_channel` makes another `signing_url`: the link before it answers that it was replaced, codes sent before and
    what was filled in are void, and with `send_email` a signer whose turn it is gets a new invitation. The audit log
    says what was corrected, without the values.
    """
    _signer(request, request_id, signer_id)
    with call.key_of(request) as key:
        content = call.read_object(request)
        given = read_small(Correction, content).values
        if not given:
            sentence = _("The body must have at least one of %(names)s.")
            raise DomainError("validation_error", sentence % {"names": ", ".join(Correction.model_fields)})
        act = partial(correct, request.scope, actor(request), request_id, signer_id, given, origin=origin(request))
        return call.done_once(key, content, signer_id, act, partial(shown, request.scope, request_id))


@operation(
    "extendSignatureRequest",
    "POST /signature_requests/{request_id}/extend",
    SignatureRequest,
    "The request, with its new `expires_at`.",
    accepts=(KEY,),
    body=Body(Extend, "For how long."),
    refuses=(*CHANGE, *JSON, "conflict_over:extend", "validation_days:extend"),
)
def extend_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """Give signers more time.

    Moves the end of a pending request to so many days from now, at most 90, and never to an earlier moment than
    before. `validity_days` of the request stays that of its creation.
    """
    own(request.scope, request_id)
    with call.key_of(request) as key:
        content = call.read_object(request)
        days = read_small(Extend, content).validity_days
        act = partial(extend, request.scope, actor(request), request_id, days, origin=origin(request))
        return call.done_once(key, content, request_id, act, partial(shown, request.scope, request_id))


def _signer(request: ApiRequest, request_id: int, signer_id: int) -> Answer:
    """Return a signer of one of the caller's requests, without role and fields. Raise ``not_found``."""
    for signer in own(request.scope, request_id)["signers"]:
        if signer["id"] == signer_id:
            return {name: value for name, value in signer.items() if name not in ("role", "fields")}
    raise refused("not_found")
