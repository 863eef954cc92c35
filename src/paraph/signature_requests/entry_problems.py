"""What is wrong with what signers enter, in the words of their page."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from paraph import words as catalog
from paraph.signature_requests.entered_value import InvalidEntryError
from paraph.signature_requests.field_text import shown_text
from paraph.signature_requests.models import Field, FieldType
from paraph.signature_requests.translated_refusal import TranslatedRefusal

MISSING = ("entry_missing", "entry_unticked")

_NAMED_PROBLEMS = 3
_NAMED_MISSING = 20
_WORDS = {  # by the kind of a refusal
    "empty": "entry_missing",
    "too_long": "ask_too_long",
    "unprintable": "entry_unprintable",
    "accents": "entry_unprintable",
    "no_number": "entry_no_number",
    "no_date": "entry_no_date",
    "no_option": "entry_no_option",
    "unticked": "entry_unticked",
    "too_small": "at_least",
    "too_large": "at_most",
    "filled_by_service": "set_when_signing",
}
_DATES = {"at_least": "not_before", "at_most": "not_after"}


@dataclasses.dataclass(frozen=True)
class EntryProblem:
    """What is wrong with an entry: ``word`` names words of the page, which ``facts`` fill. ``path``: of the body."""

    field: Field
    word: str
    path: str = "fields"
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def sentence(self, locale: str) -> str:
        words = catalog.of("page", locale)
        if "bound" not in self.facts:
            return catalog.phrase(words, self.word, **self.facts)
        return f"{bound(self.field, self.word, self.facts['bound'], locale)}."


def problem_of(field: Field, refusal: InvalidEntryError, path: str) -> EntryProblem:
    word, facts = _WORDS[refusal.kind], dict(refusal.facts)
    if word in _DATES:
        return EntryProblem(field, word, path, {"bound": facts.get("least") or facts.get("most")})
    return EntryProblem(field, word, path, {"most": facts["limit"]} if word == "ask_too_long" else {})


def bound(field: Field, word: str, value: str, locale: str) -> str:
    """Say a bound of a number or a date: ``at_least`` or ``at_most``."""
    word = _DATES[word] if field.type == FieldType.DATE else word
    shown = shown_text(field, value, locale)
    return catalog.phrase(catalog.of("page", locale), word, least=shown, most=shown)


class EntriesRefusal(TranslatedRefusal):
    """Entries that cannot be signed: what is wrong with each, by its path, and which are missing, by name."""

    def __init__(self, problems: Sequence[EntryProblem]) -> None:
        self.problems = problems
        super().__init__("validation_error")

    def spoken(self, locale: str, *, approves: bool = False) -> str:  # noqa: ARG002  approvers enter nothing
        words = catalog.of("answer", locale)
        missing = [problem.field.name for problem in self.problems if problem.word in MISSING]
        wrong = [f"{each.path}: {each.sentence(locale)}" for each in self.problems if each.word not in MISSING]
        told = wrong[:_NAMED_PROBLEMS]
        if missing:
            names = ", ".join([*missing[:_NAMED_MISSING], *(["…"] if len(missing) > _NAMED_MISSING else [])])
            told.append(catalog.phrase(words, "fields_missing", field="fields", names=names))
        return " ".join([*told, words["more"]] if len(wrong) > _NAMED_PROBLEMS else told)
