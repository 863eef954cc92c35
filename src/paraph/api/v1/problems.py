"""The one envelope of everything refused under /api/v1, and the order in which refusals come.

The precedence, first match wins:

0.  503 ``unavailable`` with ``Retry-After`` while the database is away: nobody knows then whose key it is; later,
    where the object store is.
1.  401 ``invalid_api_key``: no key, a malformed, unknown or revoked one. After 60 of these in a minute from one
    address: 429 ``rate_limited``.
2.  429 ``rate_limited``: the calls of the organization in the environment exceed a window; then 503 ``unavailable``
    with ``Retry-After`` where it has had its share of processor time for now and others come as well.
3.  402 ``payment_required``: a production key of an organization on the Free plan; then 403 ``forbidden``: any key of
    an organization that is suspended.
4.  404 ``not_found`` for an unknown route, then 405 ``method_not_allowed``.
5.  403 ``sandbox_only`` for a sandbox act with a production key, 403 ``production_only`` for a draft with a sandbox
    key; then 404 ``not_found`` for a resource beyond the caller's organization or environment.
6.  422 ``validation_error`` for a malformed Idempotency-Key and 409 ``idempotency_key_in_use`` for one whose first call
    is not answered yet; then 415 ``unsupported_media_type``, 507 ``insufficient_storage`` for an upload without room,
    413 ``payload_too_large``, 408 ``request_timeout`` for a body that is cut off, and 422 ``validation_error``
    for one that is not readable (broken multipart, invalid UTF-8, malformed or too deeply nested JSON, wrong root key).
7.  422 ``idempotency_key_reused`` for an Idempotency-Key that was used with other content, 410 ``gone`` where what it
    created was deleted.
8.  Creation: 403 ``initials_not_available_on_plan``, 403 ``forbidden`` (``sms``, ``branding_profile_id``),
    422 ``identity_declaration_required``, each if the field that it is about is well-formed, whatever else is wrong.
    Events: 410 ``cursor_expired``, after everything that is wrong with the query. Sandbox acts: 403
    ``decline_not_allowed``, 409 ``already_signed``, 410 ``expired``, 409 ``not_your_turn``, 409 ``conflict``.
9.  503 ``unavailable`` where an upload or the tags of a document cannot be read for lack of processor time, memory
    or processes, with ``Retry-After``.
10. 422 ``validation_error`` with every problem of the payload in one message.
11. 409 ``conflict`` where the state of a resource does not allow what is asked for, 429 ``rate_limited`` with
    ``Retry-After`` for a reminder within 24 hours of another.
12. 500 ``internal_error`` with an id that the log has too.
"""

import logging

import structlog
from django.http import HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1.responses import json_response
from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

log = logging.getLogger("paraph.api")

STATUSES = {
    "invalid_api_key": 401,
    "payment_required": 402,
    "forbidden": 403,
    "sandbox_only": 403,
    "decline_not_allowed": 403,
    "initials_not_available_on_plan": 403,
    "production_only": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "conflict": 409,
    "idempotency_key_in_use": 409,
    "already_signed": 409,
    "not_your_turn": 409,
    "gone": 410,
    "cursor_expired": 410,
    "expired": 410,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "idempotency_key_reused": 422,
    "identity_declaration_required": 422,
    "validation_error": 422,
    "rate_limited": 429,
    "unavailable": 503,
    "insufficient_storage": 507,
}
RETRY_AFTER_SECONDS = 5  # what is unavailable for lack of time is mostly there again


class TooEarlyError(DomainError):
    """What was asked for can be asked again after so many seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__("rate_limited", message)
        self.retry_after = retry_after


def refusal(error: DomainError) -> HttpResponse:
    """Return the answer to a refusal. A code that is none of the API's is a fault of the service."""
    if error.code not in STATUSES:
        return crash()
    if error.code == "unavailable":
        return _unavailable(_("The service is too busy for this at the moment. Try again in a few seconds."))
    response = json_response({"error": {"code": error.code, "message": error.message}}, STATUSES[error.code])
    if error.code == "idempotency_key_in_use":
        response.headers["Retry-After"] = "1"
    if isinstance(error, TooEarlyError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def fault(error: Exception) -> HttpResponse:
    """Return the answer to an exception that is no refusal: the database or the object store is away, or a fault of
    ours."""
    if not is_outage(error):
        return crash()
    log.error("%s", outage_sentence(error))
    return _unavailable(_("The service is not available at the moment. Try again in a few seconds."))


def crash() -> HttpResponse:
    """Return the answer to the exception being handled, which goes to the log under the same id."""
    incident = structlog.contextvars.get_contextvars().get("request_id") or tokens.random_hex(8)
    log.exception("incident %s", incident)
    message = _("Something went wrong on our side. The incident %(incident)s is in the service's log.")
    error = {"code": "internal_error", "message": message % {"incident": incident}}
    return json_response({"error": error}, 500)


def _unavailable(message: str) -> HttpResponse:
    """Whatever the reason, which the log has: callers can but try again."""
    response = json_response({"error": {"code": "unavailable", "message": message}}, STATUSES["unavailable"])
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def not_found() -> DomainError:
    return DomainError("not_found", _("There is no such resource."))
