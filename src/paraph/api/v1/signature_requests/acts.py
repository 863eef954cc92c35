"""What can be done with a signature request: ending it, and reminding a signer of it."""

from functools import partial

from django.http import HttpResponse

from paraph.api.v1 import body, idempotent
from paraph.api.v1.actor import actor
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.codes import CHANGE, JSON
from paraph.api.v1.operation import KEY, Body, operation
from paraph.api.v1.problems import TooEarlyError, not_found
from paraph.api.v1.signature_requests.output import SignatureRequest, Signer
from paraph.api.v1.signature_requests.reading import Answer, own
from paraph.api.v1.signature_requests.routes import shown
from paraph.flow.ending import end_own_early
from paraph.flow.sending.invite import RemindedLatelyError, remind
from paraph.idempotency.held_key import HeldKey
from paraph.kernel.errors import DomainError
from paraph.signature_requests.input import End
from paraph.signature_requests.payload import read_small

_END = ("conflict_over:end", "validation_reason:end", "validation_json:end")
_REMINDER = (
    "conflict_signed",
    "conflict_over:remind",
    "conflict_turn",
    "conflict_not_invited",
    "conflict_no_mails",
    "conflict_most",
    "rate_limited_reminder",
)


@operation(
    "endSignatureRequest",
    "POST /signature_requests/{request_id}/end",
    SignatureRequest,
    "The request, `expired` and `ended_early`.",
    accepts=(KEY,),
    body=Body(End, "Why."),
    refuses=(*CHANGE, *JSON, *_END),
)
def end_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """End a signature request early.

    Ends a pending request before its time. Its status becomes `expired`, nobody can sign any more, and what is signed
    already is not sealed. Audit log and webhooks say why, and signers are not told.
    """
    own(request.scope, request_id)
    return idempotent.with_key(request, partial(_end, request, request_id))


def _end(request: ApiRequest, request_id: int, key: HeldKey | None) -> HttpResponse:
    content = body.read_object(request)
    reason = read_small(End, content).reason

    def end() -> None:
        end_own_early(request.scope, actor(request), request_id, reason)

    def read() -> Answer:
        return shown(request.scope, request_id)

    return idempotent.done_once(key, idempotent.content_of(content), request_id, end, read)


@operation(
    "remindSigner",
    "POST /signature_requests/{request_id}/signers/{signer_id}/remind",
    Signer,
    "The signer. The mail is on its way; the audit log tells when the mail server has it.",
    accepts=(KEY,),
    refuses=(*CHANGE, *_REMINDER),
)
def remind_signer(request: ApiRequest, request_id: int, signer_id: int) -> HttpResponse:
    """Remind a signer.

    Mails the invitation again to a signer who may sign now: at most once in 24 hours and five times in all, together
    with the reminders that members send from the dashboard. For requests with `send_email`. There is no body.
    """
    _signer(request, request_id, signer_id)
    return idempotent.with_key(request, partial(_remind, request, request_id, signer_id))


def _remind(request: ApiRequest, request_id: int, signer_id: int, key: HeldKey | None) -> HttpResponse:
    """A body is not looked at: there is nothing to say."""

    def ask() -> None:
        try:
            remind(request.scope, request_id, signer_id, actor(request))
        except RemindedLatelyError as early:
            raise TooEarlyError(early.message, early.retry_after) from early
        except DomainError as refusal:
            raise DomainError("conflict", refusal.message) from refusal

    def read() -> Answer:
        return _signer(request, request_id, signer_id)

    return idempotent.done_once(key, idempotent.content_of(None), signer_id, ask, read)


def _signer(request: ApiRequest, request_id: int, signer_id: int) -> Answer:
    """Return a signer of one of the caller's requests, without role and fields. Raises ``not_found``."""
    for signer in own(request.scope, request_id)["signers"]:
        if signer["id"] == signer_id:
            return {name: value for name, value in signer.items() if name not in ("role", "fields")}
    raise not_found()
