"""What can be done with a signature request: ending it, and reminding a signer of it."""

from functools import partial

from django.http import HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1 import body, idempotent
from paraph.api.v1.actor import actor
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.problems import TooEarlyError, not_found
from paraph.api.v1.signature_requests.reading import Answer, own
from paraph.api.v1.signature_requests.routes import shown
from paraph.flow.ending.end_early import end_own_early
from paraph.flow.sending.remind import RemindedLatelyError, remind
from paraph.idempotency.held_key import HeldKey
from paraph.kernel.errors import DomainError
from paraph.signature_requests.input import End
from paraph.signature_requests.payload import read_small


def end_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """End a request before its time."""
    own(request.scope, request_id)
    path = f"signature_requests/{request_id}/end"
    return idempotent.with_key(request, path, partial(_end, request, request_id))


def _end(request: ApiRequest, request_id: int, key: HeldKey | None) -> HttpResponse:
    content = body.read_object(request)
    reason = read_small(End, content).reason

    def end() -> None:
        end_own_early(request.scope, actor(request), request_id, reason)

    def read() -> Answer:
        return shown(request.scope, request_id)

    return idempotent.done_once(key, idempotent.content_of(content), request_id, end, read)


def remind_signer(request: ApiRequest, request_id: int, signer_id: int) -> HttpResponse:
    """Have the invitation mailed again to a signer."""
    _signer(request, request_id, signer_id)
    path = f"signature_requests/{request_id}/signers/{signer_id}/remind"
    return idempotent.with_key(request, path, partial(_remind, request, request_id, signer_id))


def _remind(request: ApiRequest, request_id: int, signer_id: int, key: HeldKey | None) -> HttpResponse:
    """A body is not looked at: there is nothing to say."""

    def ask() -> None:
        try:
            remind(request.scope, request_id, signer_id, actor(request))
        except RemindedLatelyError as early:
            raise TooEarlyError(early.message, early.retry_after) from early
        except DomainError as refusal:
            raise DomainError("conflict", _sentences().get(refusal.code, refusal.message)) from refusal

    def read() -> Answer:
        return _signer(request, request_id, signer_id)

    return idempotent.done_once(key, idempotent.content_of(None), signer_id, ask, read)


def _signer(request: ApiRequest, request_id: int, signer_id: int) -> Answer:
    """Return a signer of one of the caller's requests, without role and fields. Raises ``not_found``."""
    for signer in own(request.scope, request_id)["signers"]:
        if signer["id"] == signer_id:
            return {name: value for name, value in signer.items() if name not in ("role", "fields")}
    raise not_found()


def _sentences() -> dict[str, str]:
    """Return what the sender is told where the signing page would speak to the signer."""
    return {
        "already_signed": _("The signer has already signed."),
        "expired": _("The request is over."),
        "not_your_turn": _("It is not the signer's turn yet."),
    }
