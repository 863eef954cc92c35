"""The consent notice that a signer accepts. The journal records the accepted text (rule 6.2)."""

from paraph import words as catalog
from paraph.words import LOCALES

__all__ = ["LOCALES", "consent_notice"]


def consent_notice(locale: str, documents: int, *, approves: bool = False) -> str:
    """Return the text for this number of documents, in one of :data:`LOCALES`. Raises ``KeyError`` for another.
    ``approves``: whether it is for an approver."""
    if locale not in LOCALES:
        raise KeyError(locale)
    words = catalog.of("consent", locale)
    words = catalog.for_approvers(words) if approves else words
    return f"{catalog.phrase(words, 'agreement', count=documents)} {words['evidence']}"
