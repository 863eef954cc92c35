"""Laying out a mail: plain text, and HTML that mail programs accept, in light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.template.loader import render_to_string

from paraph.flow.messages.sentences import Sentence
from paraph.kernel.colors import contrast, is_color, readable_on
from paraph.tenants.models import BrandingProfile
from paraph.words import direction

_VISIBLE = 3.0  # WCAG 2.2, 1.4.11: the edge of a button


class _Scheme(NamedTuple):
    """The card's colour, also in email.html; the accent of mails without a branding profile; the edge of a button whose
    accent cannot be told from the card."""

    card: str
    accent: str
    edge: str


_LIGHT = _Scheme("#ffffff", "#1f4fd8", "#7b8497")
_DARK = _Scheme("#1b2230", "#8fb0ff", "#8a93a6")


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
    """Return the mail with its two forms, which say the same."""
    return EmailContent(letter.subject, _text(letter), _html(letter))


def _text(letter: Letter) -> str:
    middle = [f"{letter.action[0]}:\n{letter.action[1]}"] if letter.action else []
    lines, closing = ([sentence.text for sentence in part] for part in (letter.lines, letter.closing))
    return "\n\n".join([*lines, *middle, *closing]) + "\n"


def _html(letter: Letter) -> str:
    content = {
        "letter": letter,
        "direction": direction(letter.locale),
        "light": _colors(letter.branding, _LIGHT),
        "dark": _colors(letter.branding, _DARK),
    }
    return render_to_string("messages/email.html", content)


def _colors(branding: BrandingProfile | None, scheme: _Scheme) -> dict[str, str]:
    chosen = branding.accent_color if branding else ""
    accent = chosen if is_color(chosen) else scheme.accent
    edge = accent if contrast(accent, scheme.card) >= _VISIBLE else scheme.edge
    return {"accent": accent, "on_accent": readable_on(accent), "edge": edge}
