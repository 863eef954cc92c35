"""Sentences of a page with numbers in them: the form that a language has for the number (CLDR)."""

from functools import cache
from typing import Any

from babel import Locale


def phrase(words: dict[str, Any], name: str, /, **values: Any) -> str:
    """The words of this name with their placeholders filled in."""
    return form(words, name, values.get("count")).format(**values)


def form(words: dict[str, Any], name: str, count: Any = None) -> str:
    """The words of this name, in the form for ``count`` where they have several, named by CLDR's categories (``one``,
    ``few``, ``other``). ``words["locale"]`` tells by whose rules."""
    text = words[name]
    if isinstance(text, dict):
        text = text.get(_locale(words["locale"]).plural_form(count)) or text["other"]
    return str(text)


@cache
def _locale(code: str) -> Locale:
    return Locale.parse(code)
