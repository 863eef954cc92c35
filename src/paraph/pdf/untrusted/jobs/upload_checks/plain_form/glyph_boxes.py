"""Whether a glyph that is drawn keeps within the box that it names, at which some readers cut it off (9.6.4)."""

import re

from paraph.pdf.structure.objects import REGULAR, SPACE
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.settings import without_images

_OPERATION = re.compile(rb"([-+.0-9" + SPACE + rb"]*+)(?:/" + REGULAR + rb"*+[" + SPACE + rb"]*+)?([A-Za-z][A-Za-z0-9*]*+)")
_PAIRS = {b"m": 1, b"l": 1, b"c": 3, b"v": 2, b"y": 2}
_PICTURES = (b"Do", b"BI")
_PASSED = frozenset(b"h f F f* n W W* w J j M i d g rg k G RG K gs".split())
_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
_SAME = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_SPARE = 0.05  # of the larger side: lines between pixels
_Matrix = tuple[float, ...]


def keeps_within(head: bytes, contents: bytes, *, deep: bool) -> bool:
    """Return whether the drawing is known to keep within the box of ``d1`` in ``head``, if that is one. ``deep``: it
    draws others than images."""
    if not head.rstrip().endswith(b"d1"):
        return True
    left, bottom, right, top = map(float, head.split()[2:6])
    drawn = None if deep or b"(" in contents or b"<" in contents else _points(without_images(contents))
    if drawn is None:
        return False
    spare = _SPARE * max(right - left, top - bottom)
    return all(
        left - spare <= x <= right + spare and bottom - spare <= y <= top + spare for x, y in drawn
    )


def _points(contents: bytes) -> list[tuple[float, float]] | None:
    """Return points around all that is drawn; ``None`` for what is not paths and images."""
    matrix, saved, found = _SAME, list[_Matrix](), list[tuple[float, float]]()
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
            matrix = _times(tuple(operands), matrix)
        elif operator not in _PASSED:
            return None
        a, b, c, d, e, f = matrix
        found += [(a * x + c * y + e, b * x + d * y + f) for x, y in points]
    return found


def _times(one: _Matrix, other: _Matrix) -> _Matrix:
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)
