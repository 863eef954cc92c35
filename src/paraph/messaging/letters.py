"""What mails say, laid out as plain text and as HTML that mail programs accept, in light and dark."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from paraph.kernel.appearance import LogoPicture, contrast, is_color, readable_on
from paraph.words import Words, direction, form

_VISIBLE = 3.0  # WCAG 2.2, 1.4.11: the edge of a button
# For each colour scheme: the card's colour, also in email.html; the accent of mails without a branding profile; the
# edge of a button whose accent cannot be told from the card.
_LIGHT = ("#ffffff", "#1f4fd8", "#7b8497")
_DARK = ("#1b2230", "#8fb0ff", "#8a93a6")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a mail, as plain text and as HTML."""

    text: str
    html: SafeString

    def __str__(self) -> str:
        return self.text

    def __html__(self) -> SafeString:
        return self.html


def say(words: Words, name: str, /, **values: "str | int | Sentence") -> Sentence:
    """Return the words of this name with their placeholders filled in. In HTML, every string is isolated from the
    direction of the text around it (``bdi``), because names come in any script."""
    sentence = form(words, name, values.get("count"))
    isolated = {
        name: format_html("<bdi>{}</bdi>", value) if isinstance(value, str) else value for name, value in values.items()
    }
    html = escape(sentence)
    return Sentence(sentence.format(**values), format_html(html, **isolated) if values else html)


def plain(text: str) -> Sentence:
    """Return a sentence of text that needs no isolation, such as a date."""
    return Sentence(text, escape(text))


@dataclass(frozen=True)
class EmailContent:
    """``logo``: the PNG that the HTML shows as ``cid:logo``, empty for none. ``from_name``: whom the mail comes from,
    "" for the service itself."""

    subject: str
    text: str
    html: str = ""
    logo: bytes = b""
    from_name: str = ""


@dataclass(frozen=True)
class Letter:
    """What a mail says. ``preview`` is what an inbox shows beside the subject; ``action`` is the button's label and its
    address; ``from_name`` is as in :class:`EmailContent`; ``accent`` and ``logo`` are those of a branding profile, ""
    and None without one."""

    locale: str
    subject: str
    preview: str
    sender: str
    lines: Sequence[Sentence]
    closing: Sequence[Sentence]
    action: tuple[str, str] | None = None
    from_name: str = ""
    accent: str = ""
    logo: LogoPicture | None = None


def lay_out(letter: Letter) -> EmailContent:
    """Return the mail as plain text and as HTML, which say the same."""
    middle = [f"{letter.action[0]}:\n{letter.action[1]}"] if letter.action else []
    text = "\n\n".join(map(str, [*letter.lines, *middle, *letter.closing])) + "\n"
    logo = letter.logo.png if letter.logo else b""
    return EmailContent(letter.subject, text, _html(letter), logo, letter.from_name)


def _html(letter: Letter) -> str:
    content = {
        "letter": letter,
        "direction": direction(letter.locale),
        "light": _colors(letter.accent, *_LIGHT),
        "dark": _colors(letter.accent, *_DARK),
    }
    return render_to_string("messages/email.html", content)


def _colors(chosen: str, card: str, default: str, default_edge: str) -> dict[str, str]:
    accent = chosen if is_color(chosen) else default
    edge = accent if contrast(accent, card) >= _VISIBLE else default_edge
    return {"accent": accent, "on_accent": readable_on(accent), "edge": edge}


_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\\s]+")
# Characters that are invisible or change the direction of text, and so can disguise it.
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_DOTS, _COLONS, _SLASHES, _ATS = ".\u2024\u3002\ufe52\uff0e\uff61", ":\ufe55\uff1a", "/\\\\\uff0f", "@\ufe6b\uff20"
_MARKS = f"[{_DOTS}{_COLONS}{_SLASHES}{_ATS}]"
_JOINERS = re.compile(f"(?<={_MARKS})[\u200c\u200d]+|[\u200c\u200d]+(?={_MARKS})")  # joiners matter within words
_SCHEME = re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*[{_COLONS}][{_SLASHES}]{{2,}}")
_COLON = re.compile(rf"(?<=[A-Za-z])([{_COLONS}])(?=\S)")
_AT = re.compile(f" ?[{_ATS}] ?")
# A last label has two letters at least: "J.R. Smith" and "e.V." are no domains.
_DOT = re.compile(rf"(?<=\S)([{_DOTS}])(?=[^\W\d_][^\s{_DOTS}])")
_NUMBERS = re.compile(rf"\d+(?:[{_DOTS}]\d+){{3,}}")


def unlinked(text: str, max_length: int) -> str:
    """Return a text that a sender chose, such as a name, on one line of at most ``max_length`` characters, without
    anything that a mail program turns into a link (docs/decisions/messages.md). Spaces break up addresses: after the
    dot before a letter, after a colon, around an ``@``. Schemes such as ``https://`` are removed."""
    line = _HIDDEN.sub("", _BREAKS.sub(" ", text))
    line = _COLON.sub(r"\1 ", _SCHEME.sub(" ", _JOINERS.sub("", line)))
    line = _DOT.sub(r"\1 ", _AT.sub(" @ ", line))
    line = _NUMBERS.sub(lambda match: re.sub(rf"([{_DOTS}])", r"\1 ", match[0]), line)
    line = " ".join(line.split())
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"
