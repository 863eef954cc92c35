"""Text in the order in which it stands on the page, for tags whose parts are drawn in another order.

Producers draw the pieces of a line font by font, and scripts that run from right to left come in several
orders, with brackets mirrored or not. Sorting by place undoes all of it; it costs more than reading in the
order of drawing, so it is the second attempt.
"""

import re
import unicodedata
from collections.abc import Sequence

from paraph.pdf.isolated.characters import Baseline, Characters
from paraph.pdf.isolated.folding import fold_with_places, occurrences

_SAME_LINE = 0.3  # of the text's size, across the direction of writing
_SHORTEST_PIECE = 3

_BRACKETS = str.maketrans(")]}>\u00bb\u203a\u300d", "([{<\u00ab\u2039\u300c")
_REPEATED_BRACKET = re.compile(r"([(\[{<\u00ab\u2039\u300c])\1+")
_LEFT_TO_RIGHT_RUN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:/-]*[0-9A-Za-z]")

Line = list[int]  # characters from left to right


def worth_a_look(folded: str, text: str) -> bool:
    """Whether pieces of the tag stand on the page, so that sorting its characters may bring them together."""
    if runs_from_right(folded):
        return set(unbracketed(folded)) <= set(unbracketed(text))
    pieces = [folded[start : start + _SHORTEST_PIECE] for start in range(len(folded) - _SHORTEST_PIECE + 1)]
    return any(piece in text for piece in pieces) and set(folded) <= set(text)


def read_lines(characters: Characters, exact: Sequence[str]) -> list[Line]:
    """The characters of a page, line by line, each from left to right in its own direction of writing."""
    placed = [(index, characters.baseline(index)) for index, text in enumerate(exact) if text.strip()]
    placed.sort(key=lambda item: (round(item[1].angle, 1), item[1].across))
    found: list[list[tuple[int, Baseline]]] = []
    for index, here in placed:
        last = found[-1][-1][1] if found else None
        if last and abs(last.angle - here.angle) < 0.1 and abs(last.across - here.across) < _SAME_LINE * here.size:
            found[-1].append((index, here))
        else:
            found.append([(index, here)])
    ordered = [sorted(line, key=lambda item: item[1].along) for line in found]
    return [[index for index, _ in line] for line in ordered]


def search_line(line: Line, exact: Sequence[str], folded: str) -> list[list[int]]:
    """The characters of each occurrence of the tag on the line."""
    text, places = fold_with_places(exact[index] for index in line)
    if runs_from_right(folded):
        text, kept = _bracketed(text)
        places = [places[index] for index in kept]
        folded = _as_seen(folded)
    found = []
    for start in occurrences(folded, text):
        found.append([line[place] for place in sorted(set(places[start : start + len(folded)]))])
    return found


def runs_from_right(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in {"R", "AL"} for character in text)


def unbracketed(text: str) -> str:
    return re.sub(r"[\[\](){}<>\u00ab\u00bb\u2039\u203a\u300c\u300d]", "", text)


def _as_seen(text: str) -> str:
    """A text that runs from right to left, from left to right: reversed but for numbers and Latin words."""
    turned = _LEFT_TO_RIGHT_RUN.sub(lambda run: run[0][::-1], text[::-1])
    return _bracketed(turned)[0]


def _bracketed(text: str) -> tuple[str, list[int]]:
    """Brackets all turned one way and never doubled, as PDFium gives mirrored pairs; and which characters stay."""
    text = text.translate(_BRACKETS)
    dropped = {place for run in _REPEATED_BRACKET.finditer(text) for place in range(run.start() + 1, run.end())}
    kept = [place for place in range(len(text)) if place not in dropped]
    return "".join(text[place] for place in kept), kept
