"""Drawn signatures as SVG pictures for the template of the stamps."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import geometric_mean
from typing import Any

from paraph.pdf.typesetting.fonts import library
from paraph.pdf.typesetting.strokes import PEN, drawing_size, ink

INK = "#16264f"
_THICKEST = 0.05  # half-width, as a share of the longer side: what a thick felt pen leaves in a tiny drawing

SizedSignature = tuple[Mapping[str, Any], float, float]
"""A signature, and about the width and height that it gets, in points."""


class SignaturePictures:
    """The pictures of the drawn ones among some signatures.

    One picture serves all sizes of a drawing; its pen is the geometric mean of the pens that suit each size.
    """

    def __init__(self, signatures: Iterable[SizedSignature]) -> None:
        self.pictures: list[dict[str, Any]] = []
        """SVG with width and height."""
        self._numbers: dict[str, int] = {}
        for name, (signature, pen) in _pens(signatures).items():
            drawing = ink(signature.get("strokes", ()), float(signature.get("aspect", 1.0)), pen)
            if drawing:
                self._numbers[name] = len(self.pictures)
                self.pictures.append({"svg": drawing.svg(INK), "width": drawing.width, "height": drawing.height})

    def number(self, signature: Mapping[str, Any]) -> int | None:
        """Return the index of its picture; None for a typed signature, or where nothing visible was drawn."""
        return self._numbers.get(repr(signature))


def hand_of(signature: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return for the templates in which of the four ``hand``s a typed signature is written, 1 to 4, 1 where it names
    none; and whether all of the text can be ``handwritten`` in it: else it is set in a printed face of its own, so that
    no name is written in two."""
    hand = signature.get("hand", 1)
    hand = hand if hand in (1, 2, 3, 4) else 1
    letters = {ord(letter) for letter in text}
    return {"hand": hand, "handwritten": letters <= library().hands[hand - 1].characters}


def _pens(signatures: Iterable[SizedSignature]) -> dict[str, tuple[Mapping[str, Any], float]]:
    """Return each drawing once, with the half-width of its line as a share of its longer side."""
    drawings: dict[str, Mapping[str, Any]] = {}
    pens: dict[str, set[float]] = defaultdict(set)
    for signature, width, height in signatures:
        if signature.get("type") == "drawn":
            name = repr(signature)
            drawings[name] = signature
            pens[name].add(_pen(signature, width, height))
    return {name: (signature, geometric_mean(sorted(pens[name]))) for name, signature in drawings.items()}


def _pen(signature: Mapping[str, Any], width: float, height: float) -> float:
    """Return the half-width that looks like a pen's where the drawing fills ``width`` by ``height`` points."""
    drawn_width, drawn_height = drawing_size(signature.get("strokes", ()), float(signature.get("aspect", 1.0)))
    longer = max(drawn_width, drawn_height)
    if not longer:
        return PEN
    on_stamp = longer * min(width / max(drawn_width, longer / 50), height / max(drawn_height, longer / 50))
    return min(_THICKEST, (0.5 + 0.007 * height) / on_stamp)
