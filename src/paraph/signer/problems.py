"""What is wrong with a form, in the words of the page."""

from dataclasses import dataclass
from typing import Any

from paraph.flow.signing.sign import NoInkError
from paraph.kernel.errors import DomainError
from paraph.otp.refusals import GuessRefusedError
from paraph.signature_requests.fields.entry import EntriesRefusal, EntryProblem
from paraph.signature_requests.signed_documents import PageNotShownError
from paraph.words import phrase

_ABOUT_THE_CODE = ("invalid_otp", "too_many_attempts")


@dataclass(frozen=True)
class Problem:
    """``field``: the id of the element that it is about."""

    field: str
    text: str


def of(refusal: DomainError | None, missing: tuple[str, ...], words: dict[str, Any]) -> list[Problem]:
    found = [Problem(_field(name), words[f"{name}_missing"]) for name in missing]
    if refusal is None:
        return found
    if isinstance(refusal, EntriesRefusal):
        locale = str(words["locale"])
        return [*found, *(Problem(f"entry-{each.field.pk}", _of_entry(each, locale)) for each in refusal.problems)]
    if isinstance(refusal, NoInkError):
        return [*found, Problem(_field(refusal.field), sentence(refusal, words))]
    field = "code" if refusal.code in _ABOUT_THE_CODE else "sign"
    return [*found, Problem(field, sentence(refusal, words))]


def _of_entry(problem: EntryProblem, locale: str) -> str:
    return f"{problem.field.label}: {problem.sentence(locale)}"


def sentence(refusal: DomainError, words: dict[str, Any]) -> str:
    """Say the refusal in the words of the page."""
    if isinstance(refusal, PageNotShownError):
        return phrase(words, "unshown", page=refusal.page_number, name=refusal.document_name)
    if isinstance(refusal, NoInkError):
        return str(words["no_ink"])
    if isinstance(refusal, GuessRefusedError):
        if refusal.attempts_left:
            return phrase(words, "tries_left", count=refusal.attempts_left)
        if refusal.retry_after:
            return str(words["code_locked"])
        return str(words["code_outdated" if refusal.attempts_left is None else "code_used_up"])
    return str(words.get(refusal.code) or words["failed"])


def _field(name: str) -> str:
    return f"{name}-drawn" if name in ("signature", "initials") else name
