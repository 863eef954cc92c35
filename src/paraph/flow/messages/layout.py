"""Laying out a mail: plain text, and HTML that mail programs accept, in light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string

from paraph.flow.messages.sentences import Sentence
from paraph.kernel.colors import contrast, is_color, readable_on
from paraph.organizations.models import BrandingProfile
from paraph.words import direction

_DEFAULT_ACCENT = "#1f4fd8"
_LIGHT, _DARK = "#ffffff", "#1b2230"  # of the card, also in email.html
_VISIBLE = 3.0  # WCAG 2.2, 1.4.11: the edge of a button


@dataclass(frozen=True)
class EmailContent:
    subject: str
    text: str
    html: str


@dataclass(frozen=True)
class Letter:
    """What a mail says. ``preview`` is what an inbox shows beside the subject; ``action`` the words of the button and
    its address."""

    locale: str
    subject: str
    preview: str
    sender: str
    lines: Sequence[Sentence]
    closing: Sequence[Sentence]
    action: tuple[str, str] | None = None
    branding: BrandingProfile | None = None


def lay_out(letter: Letter) -> EmailContent:
    """Returns the mail with its two forms, which say the same."""
    return EmailContent(letter.subject, _text(letter), _html(letter))


def _text(letter: Letter) -> str:
    middle = [f"{letter.action[0]}:\n{letter.action[1]}"] if letter.action else []
    lines, closing = ([sentence.text for sentence in part] for part in (letter.lines, letter.closing))
    return "\n\n".join([*lines, *middle, *closing]) + "\n"


def _html(letter: Letter) -> str:
    chosen = letter.branding.accent_color if letter.branding else ""
    accent = chosen if is_color(chosen) else _DEFAULT_ACCENT
    content = {
        "letter": letter,
        "direction": direction(letter.locale),
        "accent": accent,
        "on_accent": readable_on(accent),
        "edge": _edge(accent, _LIGHT),
        "edge_in_dark": _edge(accent, _DARK),
    }
    return render_to_string("messages/email.html", content)


def _edge(accent: str, card: str) -> str:
    return accent if contrast(accent, card) >= _VISIBLE else readable_on(card)
