"""Sentences of a mail, for its plain text and its HTML at once."""

from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from paraph.words import Words, form


@dataclass(frozen=True)
class Sentence:
    text: str
    html: SafeString


def say(words: Words, name: str, /, **values: "str | int | Sentence") -> Sentence:
    """Return the words of this name with their placeholders filled in. In HTML every string stands apart from the
    direction of the text around it (``bdi``): names come in any script."""
    sentence = form(words, name, values.get("count"))
    text = sentence.format(**{key: _text(value) for key, value in values.items()})
    html = escape(sentence)
    filled = format_html(html, **{key: _html(value) for key, value in values.items()}) if values else html
    return Sentence(text, filled)


def plain(text: str) -> Sentence:
    """Return a text of ours, such as a date."""
    return Sentence(text, escape(text))


def _text(value: str | int | Sentence) -> str:
    return value.text if isinstance(value, Sentence) else str(value)


def _html(value: str | int | Sentence) -> SafeString:
    if isinstance(value, Sentence):
        return value.html
    return format_html("<bdi>{}</bdi>", value) if isinstance(value, str) else escape(value)
