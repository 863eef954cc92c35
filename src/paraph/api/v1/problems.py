"""The one envelope of everything refused under /api/v1, and the order in which refusals come.

The precedence, first match wins:

0.  ``unavailable`` with ``Retry-After`` while the database is away: nobody knows then whose key it is; later, where
    the object store is.
1.  ``invalid_api_key``: no key, a malformed, unknown or revoked one. After 60 of these in a minute from one address:
    ``rate_limited``.
2.  ``rate_limited``: the calls of the organization in the environment exceed a window.
3.  ``payment_required``: a production key of an organization on the Free plan; then ``forbidden``: any key of an
    organization that is suspended.
4.  ``not_found`` for an unknown route, then ``method_not_allowed``.
5.  ``sandbox_only`` for a sandbox act with a production key, ``production_only`` for a draft with a sandbox key; then
    ``not_found`` for a resource beyond the caller's organization or environment.
6.  ``validation_error`` for a malformed Idempotency-Key and ``idempotency_key_in_use`` for one whose first call is not
    answered yet; then ``unsupported_media_type``, ``insufficient_storage`` for an upload without room,
    ``payload_too_large``, ``request_timeout`` for a body that is cut off, and ``validation_error`` for one that
    is not readable (broken multipart, invalid UTF-8, malformed or too deeply nested JSON, wrong root key).
7.  ``idempotency_key_reused`` for an Idempotency-Key that was used with other content, ``gone`` where what it created
    was deleted.
8.  Creation: ``initials_not_available_on_plan``, ``forbidden`` (``sms``, ``branding_profile_id``),
    ``identity_declaration_required``, each if the field that it is about is well-formed, whatever else is wrong.
    Events: ``cursor_expired``, after everything that is wrong with the query. Sandbox acts: ``decline_not_allowed``,
    ``already_signed``, ``expired``, ``not_your_turn``, ``conflict``.
9.  ``unavailable`` with ``Retry-After`` where expensive work finds no place in time, or no process is free to read an
    upload or the tags of a document.
10. ``validation_error`` with every problem of the payload in one message.
11. ``conflict`` where the state of a resource does not allow what is asked for, ``rate_limited`` with ``Retry-After``
    for a reminder within 24 hours of another.
12. ``internal_error`` with an id that the log has too.
"""

import logging

import structlog
from django.http import HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1.codes import CODES, refused
from paraph.api.v1.responses import json_response
from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

log = logging.getLogger("paraph.api")

RETRY_AFTER_SECONDS = 5  # what is unavailable for lack of time is mostly there again


class TooEarlyError(DomainError):
    """What was asked for can be asked again after so many seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__("rate_limited", message)
        self.retry_after = retry_after


def refusal(error: DomainError) -> HttpResponse:
    """Return the answer to a refusal. A code that is none of the API's is a fault of the service."""
    if error.code not in CODES or error.code == "internal_error":
        return crash()
    if error.code == "unavailable":
        return _unavailable(_("The service is too busy for this at the moment. Try again in a few seconds."))
    response = json_response({"error": {"code": error.code, "message": error.message}}, CODES[error.code].status)
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
    response = json_response({"error": {"code": "unavailable", "message": message}}, CODES["unavailable"].status)
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def not_found() -> DomainError:
    return refused("not_found")
