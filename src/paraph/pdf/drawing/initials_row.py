"""The places of initials on a page: a row at the bottom right, in the order of the signers."""

import math
from dataclasses import dataclass

ASPECT = 2.0  # width / height, the default of InitialsContent
_HEIGHT, _SMALLEST = 24.0, 7.0
_MARGIN = 14.0
_GAP = 0.12  # between two initials, relative to their width


@dataclass(frozen=True)
class InitialsBox:
    """A rectangle in points of reader space, origin at the bottom left."""

    x: float
    y: float
    width: float
    height: float


def initials_row(page_width: float, page_height: float, count: int) -> list[InitialsBox]:
    """Return places for ``count`` initials, the first signer leftmost, the last at the right margin. Initials
    measure 48 by 24 points while one row of them fits. Otherwise they shrink and take up to three rows, within the
    bottom tenth of the page. All places have one size and lie on the page, whatever its size."""
    margin = min(_MARGIN, page_width * 0.03, page_height * 0.03)
    room_width, room_height = page_width - 2 * margin, max(page_height * 0.1 - margin, page_height * 0.05)
    height, rows = max(
        ((_height(room_width, room_height, count, rows), rows) for rows in (1, 2, 3)),
        key=lambda option: (option[0] >= min(_SMALLEST, _height(room_width, room_height, 1, 1)), -option[1]),
    )
    in_a_row = math.ceil(count / rows)
    width, step = height * ASPECT, height * ASPECT * (1 + _GAP)
    places = []
    for index in range(count):
        row, column = divmod(index, in_a_row)
        in_this = min(in_a_row, count - row * in_a_row)
        right = page_width - margin - (in_this - 1 - column) * step
        places.append(InitialsBox(right - width, margin + (rows - 1 - row) * height * 1.15, width, height))
    return places


def _height(room_width: float, room_height: float, count: int, rows: int) -> float:
    """Return the largest height at which ``count`` initials fit into ``rows`` rows."""
    in_a_row = math.ceil(count / rows)
    return min(_HEIGHT, room_height / (1.15 * rows), room_width / (ASPECT * (in_a_row * (1 + _GAP) - _GAP)))
