"""Which of the signers' languages a caller or a browser asks for."""

from django.utils.translation.trans_real import parse_accept_lang_header

from paraph.words import LOCALES


def accepted_locales(header: str) -> list[str]:
    """Return those of :data:`paraph.words.LOCALES` that an ``Accept-Language`` header names, the most wanted first."""
    codes = (_code(tag) for tag, _ in parse_accept_lang_header(header))
    return [code for code in codes if code in LOCALES]


def accepted_locale(header: str) -> str:
    """Return the most wanted of them; "" where none is named."""
    return next(iter(accepted_locales(header)), "")


def _code(tag: str) -> str:
    """Return the language of a tag such as ``de-AT``; Norwegian without a written form is Bokmål."""
    code = tag.partition("-")[0]
    return "nb" if code == "no" else code
