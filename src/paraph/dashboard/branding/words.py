"""What the page says of contrasts."""

from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.tenants.branding import Pair, contrasts

_PAIRS = {
    Pair.TEXT_ON_BACKGROUND: gettext_lazy("Text on the background"),
    Pair.TEXT_ON_SURFACE: gettext_lazy("Text on white cards"),
    Pair.ACCENT_ON_SURFACE: gettext_lazy("Lines and controls, accent on white"),
    Pair.LABEL_ON_ACCENT: gettext_lazy("Button labels, black or white on the accent"),
}


class DescribedContrast(NamedTuple):
    pair: object
    ratio: str
    needed: str
    verdict: str
    is_good: bool
    suggestion: str


def described_contrasts(background_color: str, text_color: str, accent_color: str) -> list[DescribedContrast]:
    """Describe the contrast of each pair of colours that meet, in words and numbers."""
    return [
        DescribedContrast(
            _PAIRS[found.pair],
            f"{found.ratio:.1f}",
            f"{found.needed:.1f}",
            _verdict(found.pair, found.suggestion),
            not found.suggestion,
            found.suggestion,
        )
        for found in contrasts(background_color, text_color, accent_color)
    ]


def _verdict(pair: Pair, suggestion: str) -> str:
    if not suggestion:
        return _("Good")
    if pair == Pair.ACCENT_ON_SURFACE:
        return _("The page uses the text colour for lines instead.")
    return _("The page uses black or white instead.")
