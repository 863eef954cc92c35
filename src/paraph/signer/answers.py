"""What every answer under ``/sign/`` has in common: its headers, one envelope for what is refused, and the sentences
that say so: to programs in the language of the answer, on a form in the words of its page."""

import json
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import structlog
from babel.units import format_unit
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from paraph import words as catalog
from paraph.database.outage import is_outage, outage_sentence
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.signing.decline_or_ask import TooManyInquiriesError
from paraph.flow.signing.sign import NoInkError
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.otp.codes import TooManySendsError
from paraph.otp.guesses import GuessRefusedError
from paraph.signature_requests.fields.entry import EntriesRefusal
from paraph.signature_requests.localized import TranslatedRefusal
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing import PageNotShownError
from paraph.signer import language
from paraph.signer.described import CODES, Answer
from paraph.words import Words, phrase

log = logging.getLogger("paraph.signer")
STATUSES = {code: each.status for code, each in CODES.items()}
RETRY_AFTER_SECONDS = 5  # a lack of time has mostly passed by then
_SECONDS_TO_WAIT = {
    "unavailable": RETRY_AFTER_SECONDS,
    "delivery_failed": 15,  # as long as a gateway is waited for
}
_OF_THE_PAGE = {  # by code, the words of the page that say it
    "already_signed": ("already_signed_title",),
    "expired": ("expired_title",),
    "replaced": ("replaced_title",),
    "not_your_turn": ("not_your_turn_title",),
    "invalid_otp": ("code_outdated",),
    "delivery_failed": ("delivery_failed",),
    "unavailable": ("unavailable_title", "unavailable_text"),
}
_OF_THE_ANSWER = {"not_found": "nothing_here", "request_timeout": "body_late"}
_OF_MESSAGES = (TooManyMessagesError, TooManyInquiriesError, TooManySendsError)
_ABOUT_THE_CODE = ("invalid_otp", "too_many_attempts")


def answer(content: Answer | dict[str, Any], status: int = 200, locale: str = "en") -> HttpResponse:
    """Return a JSON answer. ``locale``: the language of the sentences in it."""
    if isinstance(content, Answer):
        content = content.model_dump(exclude_unset=True)
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    response = private(HttpResponse(body, status=status, content_type="application/json"))
    response["Content-Language"] = locale
    return response


def private(response: HttpResponse) -> HttpResponse:
    """Keep a response under a secret address from caches and other sites. Framing is allowed on purpose: signing URLs
    are embeddable (rule 5.2), by any site unless the application names some (:mod:`paraph.signer.shell`), and no
    signature comes about without a code from outside the frame."""
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response


def back(request: HttpRequest, done: str) -> HttpResponse:
    """Send the browser back to the address it came from (303), with ``done=1`` and its language."""
    asked = {"lang": request.GET["lang"]} if "lang" in request.GET else {}
    return go_on(f"{request.path}?{urlencode({**asked, done: 1})}")


def go_on(address: str) -> HttpResponse:
    """Send the browser on from a form (303)."""
    return private(HttpResponseRedirect(address, status=303))


def refusal(error: DomainError, locale: str, signer: Signer | None = None) -> HttpResponse:
    """Return the answer to a refusal; to an approver it speaks of approving. A code that is none of the signer's is a
    fault of the service."""
    if error.code not in STATUSES:
        return crash(locale)
    content: dict[str, Any] = {"code": error.code, "message": _localized(error, locale, signer)}
    if isinstance(error, PageNotShownError):  # for the page, which has words of its own
        content |= {"page_number": error.page_number, "document_id": error.document_id, "document": error.document_name}
    if isinstance(error, GuessRefusedError):  # likewise
        content |= {} if error.attempts_left is None else {"attempts_left": error.attempts_left}
        content |= {"retry_after": error.retry_after, "locked": error.locked} if error.retry_after else {}
    if isinstance(error, EntriesRefusal):
        content["fields"] = [
            {
                "document_id": problem.field.request_document.document_id,
                "name": problem.field.name,
                "message": problem.sentence(locale),
            }
            for problem in error.problems
        ]
    return say_when(answer({"error": content}, STATUSES[error.code], locale), error)


def say_when(response: HttpResponse, error: DomainError) -> HttpResponse:
    """Tell in ``Retry-After`` when to come again, where that helps."""
    if seconds := error.retry_after or _SECONDS_TO_WAIT.get(error.code, 0):
        response["Retry-After"] = str(seconds)
    return response


def fault(error: Exception, locale: str, signer: Signer | None = None) -> HttpResponse:
    """Return the answer to an exception: a refusal, or the database is away, or a fault of ours."""
    if isinstance(error, DomainError):
        return refusal(error, locale, signer)
    if not is_outage(error):
        return crash(locale)
    log.error("%s", outage_sentence(error))
    return refusal(DomainError("unavailable", outage_sentence(error)), locale)


def crash(locale: str) -> HttpResponse:
    """Return the answer to the exception being handled, which goes to the log under the same id."""
    incident = structlog.contextvars.get_contextvars().get("request_id") or tokens.random_hex(8)
    log.exception("incident %s", incident)
    message = phrase(catalog.of("answer", locale), "internal_error", incident=incident)
    return answer({"error": {"code": "internal_error", "message": message}}, 500, locale)


def _localized(error: DomainError, locale: str, signer: Signer | None) -> str:
    """Say the refusal in a language of the page, to whoever reads the JSON of a signer's endpoint."""
    page, words = language.words(locale, signer), catalog.of("answer", locale)
    if isinstance(error, TranslatedRefusal):
        return error.localized(locale, approves=signer is not None and signer.is_approver)
    if isinstance(error, NoInkError):
        return f"{error.field}: {page['no_ink']}"
    if error.retry_after:
        return _later(error, words)
    if error.code in _OF_THE_ANSWER:
        return str(words[_OF_THE_ANSWER[error.code]])
    if error.code in _OF_THE_PAGE and not isinstance(error, GuessRefusedError):
        return " ".join(f"{str(page[name]).removesuffix('.')}." for name in _OF_THE_PAGE[error.code])
    return _sentence(error, page)


def _later(error: DomainError, words: Words) -> str:
    seconds, locale = error.retry_after, words["locale"]
    if isinstance(error, GuessRefusedError):
        until = clock.now() + timedelta(seconds=seconds + 59)  # the words name the minute
        return phrase(words, "codes_until", until=catalog.moment(until, locale))
    minutes = -(-seconds // 60)
    amount, unit = (minutes, "minute") if minutes <= 120 else (-(-minutes // 60), "hour")
    time = format_unit(amount, f"duration-{unit}", "short", locale=locale)
    return phrase(words, "too_many_messages" if isinstance(error, _OF_MESSAGES) else "too_many", time=time)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a form. ``field``: the id of the element that it is about."""

    field: str
    text: str


class PageNotLoadedError(DomainError):
    """The picture of a page cannot be had now, but perhaps in a moment."""

    def __init__(self, page_number: int, document_name: str) -> None:
        super().__init__("unavailable", f"Page {page_number} of “{document_name}” could not be loaded.")
        self.page_number = page_number
        self.document_name = document_name


def problems(error: DomainError | None, missing: tuple[str, ...], words: Words) -> list[Problem]:
    """Return what is wrong with the form of a signing page, in the words of the page."""
    found = [Problem(_element(name), words[f"{name}_missing"]) for name in missing]
    if error is None:
        return found
    if isinstance(error, EntriesRefusal):
        locale = str(words["locale"])
        entries = ((each.field, each.sentence(locale)) for each in error.problems)
        return [*found, *(Problem(f"entry-{field.pk}", f"{field.label}: {text}") for field, text in entries)]
    about = "code" if error.code in _ABOUT_THE_CODE else "sign"
    if isinstance(error, (PageNotShownError, PageNotLoadedError)):
        about = "consent"
    return [*found, Problem(_element(error.field) if isinstance(error, NoInkError) else about, _sentence(error, words))]


def _sentence(error: DomainError, words: Words) -> str:
    if isinstance(error, (PageNotShownError, PageNotLoadedError)):
        word = "unshown" if isinstance(error, PageNotShownError) else "unread"
        return phrase(words, word, page=error.page_number, name=error.document_name)
    if isinstance(error, NoInkError):
        return str(words["no_ink"])
    if isinstance(error, GuessRefusedError):
        if error.attempts_left:
            return phrase(words, "tries_left", count=error.attempts_left)
        if error.retry_after:
            return str(words["code_locked"])
        return str(words["code_outdated" if error.attempts_left is None else "code_used_up"])
    if isinstance(error, TranslatedRefusal) and error.code == "delivery_failed":
        words = {error.code: error.localized(str(words["locale"]))}
    return str(words.get(error.code) or words["failed"])


def _element(name: str) -> str:
    return f"{name}-drawn" if name in ("signature", "initials") else name
