"""What a refusal says in the JSON of the signer's endpoints, in each language of the page."""

from datetime import timedelta

from babel.units import format_unit

from paraph import words as catalog
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.signing.ask import TooManyInquiriesError
from paraph.flow.signing.sign import NoInkError
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.otp.codes import TooManySendsError
from paraph.otp.refusals import GuessRefusedError
from paraph.signature_requests.localized import TranslatedRefusal
from paraph.signature_requests.models import Signer
from paraph.signer import language, problems
from paraph.words import Words, phrase

_OF_THE_PAGE = {  # by code, the words of the page that say it
    "already_signed": ("already_signed_title",),
    "expired": ("expired_title",),
    "not_your_turn": ("not_your_turn_title",),
    "invalid_otp": ("code_outdated",),
    "delivery_failed": ("delivery_failed",),
    "unavailable": ("unavailable_title", "unavailable_text"),
}
_OF_MESSAGES = (TooManyMessagesError, TooManyInquiriesError, TooManySendsError)
_OF_THE_ANSWER = {"not_found": "nothing_here", "request_timeout": "body_late"}


def spoken(refusal: DomainError, locale: str, signer: Signer | None = None) -> str:
    page, words = language.words(locale, signer), catalog.of("answer", locale)
    if isinstance(refusal, TranslatedRefusal):
        return refusal.spoken(locale, approves=signer is not None and signer.is_approver)
    if isinstance(refusal, NoInkError):
        return f"{refusal.field}: {page['no_ink']}"
    if seconds := getattr(refusal, "retry_after", 0):
        return _later(refusal, seconds, words)
    if refusal.code in _OF_THE_ANSWER:
        return str(words[_OF_THE_ANSWER[refusal.code]])
    if refusal.code in _OF_THE_PAGE and not isinstance(refusal, GuessRefusedError):
        return " ".join(_ended(str(page[name])) for name in _OF_THE_PAGE[refusal.code])
    return problems.sentence(refusal, page)


def _later(refusal: DomainError, seconds: int, words: Words) -> str:
    if isinstance(refusal, GuessRefusedError):
        until = clock.now() + timedelta(seconds=seconds + 59)  # the words name the minute
        return phrase(words, "codes_until", until=catalog.moment(until, words["locale"]))
    name = "too_many_messages" if isinstance(refusal, _OF_MESSAGES) else "too_many"
    return phrase(words, name, time=_duration(seconds, words["locale"]))


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(".") else f"{sentence}."


def _duration(seconds: int, locale: str) -> str:
    minutes = -(-seconds // 60)
    if minutes <= 120:
        return str(format_unit(minutes, "duration-minute", "short", locale=locale))
    return str(format_unit(-(-minutes // 60), "duration-hour", "short", locale=locale))
