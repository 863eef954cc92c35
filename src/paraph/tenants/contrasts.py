"""How readable the colours of a branding profile are (WCAG 2.2, 1.4.3 and 1.4.11), and nearby ones that are."""

from enum import StrEnum
from typing import NamedTuple

from paraph.kernel.colors import READABLE, contrast, nearest, readable_on
from paraph.tenants.theme import SURFACE, VISIBLE


class Pair(StrEnum):
    TEXT_ON_BACKGROUND = "text_on_background"
    TEXT_ON_SURFACE = "text_on_surface"
    ACCENT_ON_SURFACE = "accent_on_surface"
    LABEL_ON_ACCENT = "label_on_accent"


class Contrast(NamedTuple):
    """The ``ratio`` of two colours that meet, and the one ``needed``. ``suggestion``: the nearest colour that has it,
    "" where the chosen one has."""

    pair: Pair
    ratio: float
    needed: float
    suggestion: str


def contrasts(background: str, text: str, accent: str) -> list[Contrast]:
    """Judges each pair of colours that meet on a signing page."""
    return [
        _judged(Pair.TEXT_ON_BACKGROUND, text, background, READABLE),
        _judged(Pair.TEXT_ON_SURFACE, text, SURFACE, READABLE),
        _judged(Pair.ACCENT_ON_SURFACE, accent, SURFACE, VISIBLE),
        _judged(Pair.LABEL_ON_ACCENT, readable_on(accent), accent, READABLE),
    ]


def _judged(pair: Pair, color: str, background: str, needed: float) -> Contrast:
    ratio = contrast(color, background)
    return Contrast(pair, ratio, needed, "" if ratio >= needed else nearest(color, background, needed))
