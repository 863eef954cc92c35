"""Sandbox acts: what signers and the clock do, done by a test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.api.v1 import call, signature_request_shapes
from paraph.api.v1.codes import refused
from paraph.api.v1.endpoint import KEY, ApiRequest, Body, DocumentPart, existing, operation
from paraph.api.v1.signature_requests import shown
from paraph.flow.ending import sandbox_expire
from paraph.flow.signing.decline_or_ask import decline as decline_verb
from paraph.flow.signing.decline_or_ask import require_declinable
from paraph.flow.signing.sign import sandbox_sign
from paraph.kernel.errors import DomainError
from paraph.server.client_address import origin
from paraph.signature_requests.fields.entry import ENTERED, EnteredField, filled_fields
from paraph.signature_requests.links import ReplacedLinkError
from paraph.signature_requests.localized import TranslatedRefusal
from paraph.signature_requests.marks import Drawn, Typed, read_mark
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.plain_schema import plain_schema
from paraph.signature_requests.signing import require_open
from paraph.signature_requests.values import LONGEST_REASON
from paraph.tenants.models import Environment
from paraph.tenants.scope import TenantScope, scoped

Json = dict[str, Any]
_SIGNING = Body(
    {
        "type": "object",
        "properties": {
            "signature": {
                "anyOf": [{"title": each.__name__, **plain_schema(each)} for each in (Typed, Drawn)],
                "description": "The signature, as the signer's page sends it.",
            },
            "fields": {"type": "array", "description": ENTERED, "items": plain_schema(EnteredField)},
        },
        "additionalProperties": False,
    },
    "How it is signed. Without a body, by the signer's name.",
    required=False,
)
_REASON: DocumentPart = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_REASON,
    "description": "The reason that the signer gives.",
}
_DECLINING = Body(
    {"type": "object", "properties": {"reason": _REASON}, "additionalProperties": False},
    "Why. Without a body, because a test wants it.",
    required=False,
)
_ACT = (
    "idempotency_key_in_use", "validation_idempotency_key", "sandbox_only", "request_timeout",
    "payload_too_large", "unsupported_media_type:act",
)  # fmt: skip
_ON_SIGNER = (*_ACT, "idempotency_key_reused", "already_signed", "not_your_turn", "expired", "conflict_corrected")


@operation(
    "sandboxSign",
    "POST /sandbox/signature_requests/{request_id}/signers/{signer_id}/sign",
    signature_request_shapes.SignatureRequest,
    "The request, with the signature.",
    accepts=(KEY,),
    body=_SIGNING,
    refuses=(*_ON_SIGNER, "validation_signature"),
)
def sign(request: ApiRequest, request_id: int, signer_id: int) -> HttpResponse:
    """Sign for a signer in the sandbox.

    Signs as the signer's page would, in the same order and with the same refusals, but without a one-time code: none is
    sent. Initials, where the request wants them, are those of the name. The entry of the audit log says `sandbox_act`.
    With the last signature the request is completed, sealed and finalized as ever.
    """
    signer = _signer(request.scope, request_id, signer_id)

    def act(given: Json) -> None:
        _require(require_open, signer)
        present = _present(given, *(() if signer.is_approver else ("signature", "fields")))
        with _in_the_callers_language():
            mark = None if signer.is_approver else read_mark(present.get("signature", {"type": "typed"}))
            sandbox_sign(signer, mark, origin(request), filled_fields(signer, present.get("fields")))

    return _acted(request, request_id, act)


@operation(
    "sandboxExpire",
    "POST /sandbox/signature_requests/{request_id}/expire",
    signature_request_shapes.SignatureRequest,
    "The request, `expired`.",
    accepts=(KEY,),
    refuses=(*_ACT, "conflict", "validation_body"),
)
def expire(request: ApiRequest, request_id: int) -> HttpResponse:
    """Let a request expire in the sandbox.

    Moves `expires_at` to now and expires the request, as the clock would have: with its webhook, its event and its
    entry of the audit log, which says `sandbox_act`.
    """
    _require_sandbox(request.scope)
    existing(scoped(SignatureRequest, request.scope).filter(pk=request_id).exists())
    with call.key_of(request) as key:
        nothing, act = _present(call.read_object(request)), partial(sandbox_expire, request_id)
        return call.done_once(key, nothing, request_id, act, partial(shown, request.scope, request_id))


@operation(
    "sandboxDecline",
    "POST /sandbox/signature_requests/{request_id}/signers/{signer_id}/decline",
    signature_request_shapes.SignatureRequest,
    "The request, `expired`, with `declined_by`.",
    accepts=(KEY,),
    body=_DECLINING,
    refuses=(*_ON_SIGNER, "decline_not_allowed", "validation_reason:decline"),
)
def decline(request: ApiRequest, request_id: int, signer_id: int) -> HttpResponse:
    """Decline for a signer in the sandbox.

    Declines for a signer, as the signer's page would, where the request allows its signers to decline: the request ends
    early, with its webhook, its event and its entry of the audit log, which says `sandbox_act`.
    """
    signer = _signer(request.scope, request_id, signer_id)

    def act(given: Json) -> None:
        _require(require_declinable, signer)
        reason = _present(given, "reason").get("reason", "Declined in a test.")
        with _in_the_callers_language():
            decline_verb(signer, reason if isinstance(reason, str) else "", origin(request), sandbox_act=True)

    return _acted(request, request_id, act)


def _acted(request: ApiRequest, request_id: int, act: Callable[[Json], object]) -> HttpResponse:
    """Return the request once ``act`` has done what the body says."""
    with call.key_of(request) as key:
        given, read = call.read_object(request), partial(shown, request.scope, request_id)
        return call.done_once(key, given, request_id, partial(act, given), read)


def _signer(scope: TenantScope, request_id: int, signer_id: int) -> Signer:
    """Return a signer. Raise ``sandbox_only`` or ``not_found``."""
    _require_sandbox(scope)
    wanted = scoped(SignatureRequest, scope).filter(pk=request_id)
    return existing(Signer.objects.select_related("request").filter(pk=signer_id, request__in=wanted).first())


def _require_sandbox(scope: TenantScope) -> None:
    if scope.environment != Environment.SANDBOX:
        raise refused("sandbox_only")


def _require(allowed: Callable[[Signer], None], signer: Signer) -> None:
    """Raise what the signer's page would answer, in words about the signer."""
    try:
        allowed(signer)
    except DomainError as error:
        raise refused(error.code) from error


def _present(given: Json, *allowed: str) -> Json:
    """Return the fields of a body, which may have only those ``allowed``. A field that is null counts as absent."""
    present = {name: value for name, value in given.items() if value is not None}
    if surplus := sorted(present.keys() - set(allowed)):
        message = _("%(name)s: there is no such field.")
        raise DomainError("validation_error", " ".join(message % {"name": name[:100]} for name in surplus[:3]))
    return present


@contextmanager
def _in_the_callers_language() -> Iterator[None]:
    """Turn refusals in the signer's language into the language of the call, and one for a link that was replaced
    meanwhile into ``conflict``: the signer was corrected."""
    try:
        yield
    except TranslatedRefusal as error:
        raise DomainError(error.code, error.localized(get_language() or "en")) from error
    except ReplacedLinkError as error:
        raise DomainError("conflict", _("The signer was corrected meanwhile.")) from error
