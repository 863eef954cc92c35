"""The values of fields as they stand on pages: set smaller where they do not fit, and never over the edge.

A value is measured by the template that later draws it, so that what was accepted and shown is what is sealed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

from paraph.pdf.typesetting.glyph_fallback import clusters, glyph_fallback
from paraph.pdf.typesetting.typeset import measured, typeset_svg
from paraph.words import direction

SMALLEST = 6.0
ORDINARY = 100  # letters

_PORTION = 100 * ORDINARY  # letters that are measured at a time, in up to a tenth of a second
_MOST_KEPT = 4096  # values

_MOST_MARKS = 10  # on one letter; no language has as many
# A line may break between any two of these, as between words.
_BREAKS_ANYWHERE = re.compile("([ \u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+)")
_STRONG = ("L", "R", "AL")


@dataclass(frozen=True)
class FieldContent:
    """The value of one field in a box of ``width`` by ``height`` points.

    ``text``: what is written, "" for nothing; lines of a ``multiline`` text are kept, and wrapped. ``ticked``: a cross
    instead. ``font_size``: the largest, in points. ``locale`` says from which side a text without letters begins.
    """

    width: float
    height: float
    text: str
    font_size: float = 10.0
    locale: str = "en"
    multiline: bool = False
    ticked: bool = False

    @property
    def is_blank(self) -> bool:
        return not self.ticked and not any(line["runs"] for line in _lines(self))


_kept: dict[FieldContent, bool] = {}
"""The latest results, since a value is measured whenever it is saved, shown or signed."""
_lock = Lock()


class FieldPlace(NamedTuple):
    """A value at the distances ``x`` from the left and ``y`` from the top of its picture, in points."""

    x: float
    y: float
    content: FieldContent


@dataclass(frozen=True)
class FieldsContent:
    """One picture of ``width`` by ``height`` points with the values of several fields: those of a page."""

    width: float
    height: float
    fields: Sequence[FieldPlace]


def fitted_size(content: FieldContent) -> float | None:
    """Return the font size at which the value is set, from ``font_size`` down to :data:`SMALLEST`; None where it does
    not fit at all, and is to be refused."""
    if content.is_blank or content.ticked:
        return content.font_size
    return None if _cannot_fit(content) else _measured([content], sizes=True)[0] or None


def fits(content: FieldContent) -> bool:
    """Return whether the value has room, even if only in the smallest letters."""
    return fit([content])[0]


def fit(contents: Sequence[FieldContent]) -> list[bool]:
    """Return for each value whether it has room, even if only in the smallest letters. Values without a recent result
    are measured together, which takes a tenth of the time of measuring them one by one."""
    asked = dict.fromkeys(contents)
    found = {content: known for content in asked if (known := _known(content)) is not None}
    unknown = [content for content in asked if content not in found]
    for portion in _portions(unknown):
        found |= zip(portion, map(bool, _measured(portion)), strict=True)
    with _lock:
        _kept.update((content, found[content]) for content in unknown)
        for oldest in list(_kept)[:-_MOST_KEPT]:
            del _kept[oldest]
    return [found[content] for content in contents]


def cost(content: FieldContent) -> int:
    """Return the cost of measuring the value, in letters: at least :data:`ORDINARY`, which an ordinary value does not
    exceed."""
    return max(ORDINARY, len(content.text))


def _known(content: FieldContent) -> bool | None:
    """Return whether the value fits, None where that must be measured."""
    if content.is_blank or content.ticked or _surely_fits(content):
        return True
    return False if _cannot_fit(content) else _kept.get(content)


def _surely_fits(content: FieldContent) -> bool:
    """Return whether letters as wide as the widest would fit, which saves most values from being measured."""
    plain = not content.multiline and content.text.isascii()
    return plain and len(content.text) * 1.02 * SMALLEST <= content.width - 4 and content.height >= 1.05 * SMALLEST


def _cannot_fit(content: FieldContent) -> bool:
    if len(_lines(content)) * SMALLEST > content.height:
        return True
    written = (glyph_fallback(line).text for line in content.text.splitlines())
    return any(len(cluster) > _MOST_MARKS + 1 for line in written for cluster in clusters(line))


def _portions(contents: Iterable[FieldContent]) -> Iterator[list[FieldContent]]:
    """Divide the values into portions, so that none of them holds a place for long."""
    portion: list[FieldContent] = []
    left = _PORTION
    for content in contents:
        if left <= 0:
            yield portion
            portion, left = [], _PORTION
        portion.append(content)
        left -= cost(content)
    if portion:
        yield portion


def _measured(contents: Sequence[FieldContent], *, sizes: bool = False) -> list[float]:
    """Return the sizes at which the values are set, 0 for one that does not fit; without ``sizes``, the size of a value
    of several lines may be any other than 0."""
    return measured("field", {"fields": list(map(field_json, contents)), "sizes": sizes})


def field_picture(content: FieldContent) -> bytes:
    """Return the value as an SVG picture of the size of its box, drawn as it is sealed, without a background."""
    return fields_picture(FieldsContent(content.width, content.height, [FieldPlace(0, 0, content)]))


def fields_picture(picture: FieldsContent) -> bytes:
    """Return several values as one SVG picture."""
    return typeset_svg("appearances", {"pages": [{"kind": "fields", **fields_json(picture)}], "drawings": {}})


def fields_json(picture: FieldsContent) -> dict[str, Any]:
    """Return a page for the template of the appearances."""
    placed = [{"x": place.x, "y": place.y, **field_json(place.content)} for place in picture.fields]
    return {"width": picture.width, "height": picture.height, "fields": placed}


def field_json(content: FieldContent) -> dict[str, Any]:
    """Return one field for the templates."""
    return {
        "width": content.width,
        "height": content.height,
        "size": content.font_size,
        "multiline": content.multiline,
        "ticked": content.ticked,
        "lines": [] if content.ticked else _lines(content),
    }


def _lines(content: FieldContent) -> list[dict[str, Any]]:
    """Return each line with its runs: [text, whether it may be too long for a line and must then break anywhere]."""
    texts = content.text.strip().splitlines() if content.multiline else [content.text]
    longest = int(content.width / content.font_size)  # letters that surely have room in a line
    lines = [_line(text, content.locale, longest if content.multiline else None) for text in texts]
    return lines if any(line["runs"] for line in lines) else []


def _line(text: str, locale: str, longest: int | None) -> dict[str, Any]:
    written = glyph_fallback(text)
    has_letters = any(unicodedata.bidirectional(character) in _STRONG for character in written.text)
    from_right = written.right_to_left if has_letters else direction(locale) == "rtl"
    runs = [(written.text, False)] if longest is None else _runs(written.text, longest)
    plain = written.text.isascii()  # letters of one font without marks, whose height is known
    sides = {"rtl": written.right_to_left, "from-right": from_right}
    return {"plain": plain, "cjk": written.cjk, **sides, "runs": runs if written.text else []}


def _runs(text: str, longest: int) -> list[tuple[str, bool]]:
    """Return the runs, neighbours joined unless one may be too long: fewer runs are set faster."""
    runs: list[tuple[str, bool]] = []
    for index, part in enumerate(_BREAKS_ANYWHERE.split(text)):
        is_long = index % 2 == 0 and len(part) > longest
        if part and runs and not is_long and not runs[-1][1]:
            runs[-1] = (runs[-1][0] + part, False)
        elif part:
            runs.append((part, is_long))
    return runs
