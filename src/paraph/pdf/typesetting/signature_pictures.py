"""Drawn signatures as pictures for the template of the stamps."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import geometric_mean
from typing import Any

from paraph.pdf.typesetting.strokes import ink

INK = "#16264f"

SizedSignature = tuple[Mapping[str, Any], float, float]


class SignaturePictures:
    """The drawings among the placed signatures, each given with about the room that it gets, in points.

    One picture serves all the sizes of a drawing. Its pen is the mean of those that suit them, so that a drawing of
    one size has the one for that.
    """

    def __init__(self, placed: Iterable[SizedSignature]) -> None:
        self.pictures: list[dict[str, Any]] = []  # SVG with its proportions
        self._numbers: dict[str, int] = {}
        for name, (signature, pen) in _pens(placed).items():
            drawn = ink(signature.get("strokes", ()), float(signature.get("aspect", 1.0)), pen)
            if drawn:
                self._numbers[name] = len(self.pictures)
                self.pictures.append({"svg": drawn.svg(INK), "width": drawn.width, "height": drawn.height})

    def number(self, signature: Mapping[str, Any]) -> int | None:
        """Which of the pictures shows it, None where it is typed or nothing visible was drawn."""
        return self._numbers.get(repr(signature))


def _pens(placed: Iterable[SizedSignature]) -> dict[str, tuple[Mapping[str, Any], float]]:
    """Each drawing once, with the half-width of its line as a share of its longer side."""
    drawings: dict[str, Mapping[str, Any]] = {}
    pens: dict[str, set[float]] = defaultdict(set)
    for signature, width, height in placed:
        if signature.get("type") == "drawn":
            name = repr(signature)
            drawings[name] = signature
            pens[name].add((0.35 + 0.009 * height) / min(width, height * 2.5))
    return {name: (signature, geometric_mean(sorted(pens[name]))) for name, signature in drawings.items()}
