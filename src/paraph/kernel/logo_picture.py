"""A logo as pages, mails and proofs show it."""

from typing import NamedTuple

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
    """Return the size of a picture of so many pixels as it is shown, in CSS pixels: at most 240 by 72, and at most its
    own."""
    factor = min(1.0, _SHOWN[0] / width, _SHOWN[1] / height)
    return max(1, round(width * factor)), max(1, round(height * factor))
