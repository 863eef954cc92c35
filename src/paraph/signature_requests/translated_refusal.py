"""A refusal whose sentences exist in every language of the signers."""

from typing import Any

from paraph.kernel.errors import DomainError
from paraph.words import for_approvers, of, phrase

Sentence = tuple[str, dict[str, Any]]
"""The name of words of the theme ``answer``, and what fills their places."""


class TranslatedRefusal(DomainError):
    """``message`` is the sentences in English."""

    def __init__(self, code: str, *sentences: Sentence) -> None:
        self._sentences = sentences
        super().__init__(code, self.spoken("en"))

    def spoken(self, locale: str, *, approves: bool = False) -> str:
        """Return the sentences in a language, as signers or approvers read them."""
        words = for_approvers(of("answer", locale)) if approves else of("answer", locale)
        return " ".join(phrase(words, name, **values) for name, values in self._sentences)


def translated(code: str, name: str, **values: Any) -> TranslatedRefusal:
    """Return a refusal of one sentence."""
    return TranslatedRefusal(code, (name, values))
