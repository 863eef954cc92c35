"""What depends on the language of a person: which one a caller asks for, how a full name is written, refusals in every
language of the signers, and the consent notice that a signer accepts."""

import unicodedata
from typing import Any

from django.utils.translation.trans_real import parse_accept_lang_header

from paraph.kernel.errors import DomainError
from paraph.words import LOCALES, for_approvers, of, phrase

Sentence = tuple[str, dict[str, Any]]
"""The name of words of the theme ``answer``, and what fills their places."""

_FAMILY_NAME_FIRST = frozenset({"hu"})
_EAST_ASIAN = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA")


def accepted_locales(header: str) -> list[str]:
    """Return those of :data:`paraph.words.LOCALES` that an ``Accept-Language`` header names, the most wanted first."""
    return [code for tag, _ in parse_accept_lang_header(header) if (code := _code(tag)) in LOCALES]


def accepted_locale(header: str) -> str:
    """Return the first of :func:`accepted_locales`; "" where there is none."""
    return next(iter(accepted_locales(header)), "")


def _code(tag: str) -> str:
    """Return the language of a tag such as ``de-AT``; Norwegian without a written form is Bokmål."""
    code = tag.partition("-")[0]
    return "nb" if code == "no" else code


def full_name(first_name: str, last_name: str, locale: str) -> str:
    """Return the name as its bearer writes it: "Zoë Lindqvist", "王伟", "김민준", in Hungarian "Nagy Anna".

    Names in katakana alone are those of foreigners, and keep their order.
    """
    parts = [{_script(letter) for letter in part if letter.isalpha()} for part in (first_name, last_name)]
    scripts = set[str]().union(*parts)
    if all(parts) and scripts <= set(_EAST_ASIAN) and scripts != {"KATAKANA"}:
        return last_name + first_name
    if locale.replace("_", "-").split("-")[0].lower() in _FAMILY_NAME_FIRST:
        return f"{last_name} {first_name}"
    return f"{first_name} {last_name}"


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in _EAST_ASIAN if name.startswith(script)), "")


class TranslatedRefusal(DomainError):
    """A refusal that can be told in every language of the signers. ``message`` is its sentences in English."""

    def __init__(self, code: str, *sentences: Sentence) -> None:
        self._sentences = sentences
        super().__init__(code, self.localized("en"))

    def localized(self, locale: str, *, approves: bool = False) -> str:
        """Return the sentences in a language, as signers or approvers read them."""
        words = for_approvers(of("answer", locale)) if approves else of("answer", locale)
        return " ".join(phrase(words, name, **values) for name, values in self._sentences)


def translated(code: str, name: str, **values: Any) -> TranslatedRefusal:
    """Return a refusal of one sentence."""
    return TranslatedRefusal(code, (name, values))


def consent_notice(locale: str, documents: int, disclosure: str = "", *, approves: bool = False) -> str:
    """Return what a signer, or an approver, accepts for this number of documents, in one of the languages of
    signers. Where they were shown the ``disclosure`` of the US ESIGN Act, the text says, in English, that they have
    read that version. The journal records the accepted text (rule 6.2). Raise ``KeyError`` for another language."""
    if locale not in LOCALES:
        raise KeyError(locale)
    words = for_approvers(of("consent", locale)) if approves else of("consent", locale)
    affirmed = f" {phrase(of('esign', 'en'), 'affirmation', version=disclosure)}" if disclosure else ""
    return f"{phrase(words, 'agreement', count=documents)} {words['evidence']}{affirmed}"
