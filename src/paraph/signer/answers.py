"""What every answer under ``/sign/`` has in common: its headers, and one envelope for what is refused."""

import json
import logging
from typing import Any

import structlog
from django.http import HttpResponse

from paraph import words
from paraph.database.outage import is_outage, outage_sentence
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.otp.codes import TooManySendsError
from paraph.otp.refusals import GuessRefusedError
from paraph.signature_requests.fields.entry import EntriesRefusal
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signed_documents import PageNotShownError
from paraph.signer.codes import CODES
from paraph.signer.described import Answer
from paraph.signer.spoken import spoken
from paraph.signer.stamp_rate import TooManyStampsError
from paraph.words import phrase

log = logging.getLogger("paraph.signer")
STATUSES = {code: each.status for code, each in CODES.items()}

_WITH_RETRY_AFTER = (TooManySendsError, TooManyMessagesError, TooManyStampsError, GuessRefusedError)
RETRY_AFTER_SECONDS = 5  # what is unavailable for lack of time is mostly there again
_SECONDS_TO_WAIT = {
    "unavailable": RETRY_AFTER_SECONDS,
    "delivery_failed": 15,  # for as long a gateway is waited for; each attempt counts towards the limit of sends
}


def answer(content: Answer | dict[str, Any], status: int = 200, locale: str = "en") -> HttpResponse:
    """Return a JSON answer. ``locale``: the language of the sentences in it."""
    if isinstance(content, Answer):
        content = content.model_dump(exclude_unset=True)
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    response = private(HttpResponse(body, status=status, content_type="application/json"))
    response["Content-Language"] = locale
    return response


def refusal(error: DomainError, locale: str, signer: Signer | None = None) -> HttpResponse:
    """Return the answer to a refusal; to an approver it speaks of approving. A code that is none of the signer's is a
    fault of the service."""
    if error.code not in STATUSES:
        return crash(locale)
    told: dict[str, Any] = {"code": error.code, "message": spoken(error, locale, signer)}
    if isinstance(error, PageNotShownError):  # for the page, which has words of its own
        told |= {"page_number": error.page_number, "document_id": error.document_id, "document": error.document_name}
    if isinstance(error, GuessRefusedError):  # likewise
        told |= _guesses(error)
    if isinstance(error, EntriesRefusal):
        told |= _entries(error, locale)
    return say_when(answer({"error": told}, STATUSES[error.code], locale), error)


def _entries(error: EntriesRefusal, locale: str) -> dict[str, Any]:
    told = [
        {
            "document_id": problem.field.request_document.document_id,
            "name": problem.field.name,
            "message": problem.sentence(locale),
        }
        for problem in error.problems
    ]
    return {"fields": told}


def say_when(response: HttpResponse, error: DomainError) -> HttpResponse:
    """Tell in ``Retry-After`` when to come again, where that helps."""
    if isinstance(error, _WITH_RETRY_AFTER) and error.retry_after:
        response["Retry-After"] = str(error.retry_after)
    elif error.code in _SECONDS_TO_WAIT:
        response["Retry-After"] = str(_SECONDS_TO_WAIT[error.code])
    return response


def _guesses(error: GuessRefusedError) -> dict[str, Any]:
    left = {} if error.attempts_left is None else {"attempts_left": error.attempts_left}
    return left | ({"retry_after": error.retry_after, "locked": error.locked} if error.retry_after else {})


def fault(error: Exception, locale: str) -> HttpResponse:
    """Return the answer to an exception that is no refusal: the database is away, or a fault of ours."""
    if not is_outage(error):
        return crash(locale)
    log.error("%s", outage_sentence(error))
    return refusal(DomainError("unavailable", outage_sentence(error)), locale)


def crash(locale: str) -> HttpResponse:
    """Return the answer to the exception being handled, which goes to the log under the same id."""
    incident = structlog.contextvars.get_contextvars().get("request_id") or tokens.random_hex(8)
    log.exception("incident %s", incident)
    message = phrase(words.of("answer", locale), "internal_error", incident=incident)
    return answer({"error": {"code": "internal_error", "message": message}}, 500, locale)


def private(response: HttpResponse) -> HttpResponse:
    """Nothing under a secret address is kept by a cache or told to another site. Framing is allowed on purpose:
    signing URLs are embeddable (rule 5.2), by any site unless the application names some
    (:mod:`paraph.signer.shell`), and no signature comes about without a code from outside of the frame."""
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
