"""Readable colours, whatever palette an organization chooses (WCAG 2.2, 1.4.3), and the size of its logo."""

import re
from typing import NamedTuple

BLACK, WHITE = "#000000", "#ffffff"
READABLE = 4.5  # contrast ratio

_HEX = re.compile(r"#[0-9a-fA-F]{6}")


def is_color(text: str) -> bool:
    """Return whether the text has the form ``#rrggbb``."""
    return _HEX.fullmatch(text) is not None


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two ``#rrggbb`` colours, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def readable_on(background: str, preferred: str = "") -> str:
    """Return ``preferred`` if it is readable on the background, else black or white, whichever has more contrast."""
    if preferred and contrast(preferred, background) >= READABLE:
        return preferred
    return max((BLACK, WHITE), key=lambda color: contrast(color, background))


def nearest(color: str, background: str, ratio: float) -> str:
    """Return the colour of this hue, made darker or lighter as little as possible, that has the contrast ``ratio`` (at
    most that of black or white) with the background."""
    for share in range(101):
        for end in (BLACK, WHITE):
            mixed = _mixed(color, end, share / 100)
            if contrast(mixed, background) >= ratio:
                return mixed
    return readable_on(background)


def _mixed(color: str, end: str, share: float) -> str:
    channels = ((int(color[at : at + 2], 16), int(end[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(own + (other - own) * share):02x}" for own, other in channels)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(int(color[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


_SHOWN = (240, 72)


class LogoPicture(NamedTuple):
    """``width`` and ``height`` of the PNG in pixels; ``ground``: the colour that it stands on, ``#rrggbb``."""

    png: bytes
    width: int
    height: int
    ground: str

    @property
    def shown(self) -> tuple[int, int]:
        return shown(self.width, self.height)


def shown(width: int, height: int) -> tuple[int, int]:
    """Return the size in CSS pixels at which a picture of this size is shown: at most 240 by 72, and at most its own
    size."""
    factor = min(1.0, _SHOWN[0] / width, _SHOWN[1] / height)
    return max(1, round(width * factor)), max(1, round(height * factor))
