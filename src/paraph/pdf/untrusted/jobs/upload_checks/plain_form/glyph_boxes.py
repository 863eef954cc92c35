"""Whether a glyph that is drawn keeps within the box that it names, at which some readers cut it off (9.6.4)."""

import re

from paraph.pdf.structure.objects import REGULAR, SPACE
from paraph.pdf.structure.pages import Matrix, apply, compose
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.settings import without_images

_OPERATION = re.compile(
    rb"([-+.0-9" + SPACE + rb"]*+)(?:/" + REGULAR + rb"*+[" + SPACE + rb"]*+)?([A-Za-z][A-Za-z0-9*]*+)"
)
_OPERATORS = re.compile(rb"[A-Za-z][A-Za-z0-9*]*+")
_OF_OUTLINES = re.compile(rb"([-+.0-9" + SPACE + rb"]++)[mlcvy](?!" + REGULAR + rb")")
_PAIRS = {b"m": 1, b"l": 1, b"c": 3, b"v": 2, b"y": 2}
_BEYOND = (b"(", b"<", b"%")  # text, and what it is not worth to tell apart
_PICTURES = (b"Do", b"BI")
_PASSED = frozenset(b"h f F f* n W W* w J j M i d g rg k G RG K gs".split())
_OUTLINES = _PASSED.union(_PAIRS) - {b"gs"}
_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_SPARE = 0.05  # of the larger side: lines between pixels


def keeps_within(head: bytes, contents: bytes, *, deep: bool) -> bool:
    """Return whether the drawing is known to keep within the box of ``d1`` in ``head``, if that is one. ``deep``: it
    draws others than images."""
    if not head.rstrip().endswith(b"d1"):
        return True
    text = without_images(contents)
    drawn = None if deep or any(each in head + text for each in _BEYOND) else _points(text)
    if not drawn:
        return drawn is not None
    left, bottom, right, top = map(float, head.split()[2:6])
    xs, ys = zip(*drawn, strict=True)
    spare = _SPARE * max(right - left, top - bottom)
    beyond: float = max(left - min(xs), bottom - min(ys), max(xs) - right, max(ys) - top)
    return beyond <= spare


def _points(contents: bytes) -> list[tuple[float, float]] | None:
    """Return points around all that is drawn; ``None`` for what is not paths and images."""
    if _OUTLINES.issuperset(_OPERATORS.findall(contents)):  # as of most glyphs
        listed = list(map(float, b" ".join(_OF_OUTLINES.findall(contents)).split()))
        return list(zip(listed[::2], listed[1::2], strict=True))
    matrix, saved, found = _SAME, list[Matrix](), list[tuple[float, float]]()
    for numbers, operator in _OPERATION.findall(contents):
        operands = [float(each) for each in numbers.split()]
        points: list[tuple[float, float]] = []
        if operator in _PAIRS:
            points = list(zip(operands[::2], operands[1::2], strict=True))
        elif operator == b"re":
            x, y, width, height = operands
            points = [(x + width * across, y + height * up) for across, up in _CORNERS]
        elif operator in _PICTURES:
            points = list(_CORNERS)
        elif operator == b"q":
            saved.append(matrix)
        elif operator == b"Q":
            matrix = saved.pop()
        elif operator == b"cm":
            a, b, c, d, e, f = operands
            matrix = compose((a, b, c, d, e, f), matrix)
        elif operator not in _PASSED:
            return None
        found += [apply(matrix, x, y) for x, y in points]
    return found
