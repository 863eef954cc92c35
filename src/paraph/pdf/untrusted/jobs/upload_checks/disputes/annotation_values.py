"""The values of an annotation that decide what readers draw for it, as our own reader finds them."""

import math
from typing import Any

from paraph.pdf.structure.geometry import Box
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, number_of
from paraph.pdf.structure.reader import PdfReader

_HIDDEN, _PRINT, _NO_VIEW, _TOGGLE_NO_VIEW = 1 << 1, 1 << 2, 1 << 5, 1 << 8
_DEEPEST = 32  # ancestors of a form field


class AnnotationValues:
    """One annotation. Entries of another type than expected count as absent."""

    def __init__(self, reader: PdfReader, entries: Dictionary) -> None:
        self._resolve = reader.resolve
        self._entries = entries

    def get(self, key: bytes) -> Any:
        return self._resolve(self._entries.get(key))

    def has(self, *keys: bytes) -> bool:
        return any(self.get(key) is not None for key in keys)

    def reference(self, key: bytes) -> Ref | None:
        """Return what an entry refers to, unresolved."""
        value = self._entries.get(key)
        return value if type(value) is Ref else None

    def name(self, key: bytes) -> bytes:
        value = self.get(key)
        return value if isinstance(value, bytes) and value[:1] == b"/" else b""

    def dictionary(self, key: bytes) -> "AnnotationValues":
        """Return a dictionary among the entries, an empty one where there is none."""
        return AnnotationValues.of(self, self.get(key))

    def numbers(self, key: bytes) -> list[float] | None:
        """Return an array of finite numbers; ``None`` for anything else."""
        return self._numbers(self.get(key))

    def number(self, key: bytes) -> float | None:
        value = number_of(self.get(key))
        return value if value is not None and math.isfinite(value) else None

    def inherited(self, key: bytes) -> Any:
        """Return the entry of a form field or of its nearest ancestor that has it."""
        entries: Any = self._entries
        for _ in range(_DEEPEST):
            if not isinstance(entries, dict):
                break
            if (value := self._resolve(entries.get(key))) is not None:
                return value
            entries = self._resolve(entries.get(b"/Parent"))
        return None

    @property
    def flags(self) -> int:
        value = self.get(b"/F")
        return value if isinstance(value, int) and value >= 0 else 0

    @property
    def is_hidden(self) -> bool:
        """Whether it is neither on the screen nor in print, to every reader."""
        if self.flags & _HIDDEN:
            return True
        return bool(self.flags & _NO_VIEW) and not self.flags & (_PRINT | _TOGGLE_NO_VIEW)

    @property
    def normal_appearances(self) -> Any:
        """The stream or the dictionary of states behind /AP /N; ``None`` where /AP is none, 0 where it lacks one."""
        appearances = self.get(b"/AP")
        if not isinstance(appearances, dict):
            return None
        found = self._resolve(appearances.get(b"/N"))
        return found if isinstance(found, PdfStream | dict) else 0

    def state(self, states: Dictionary, name: bytes) -> bool:
        """Whether there is an appearance for a state."""
        return isinstance(self._resolve(states.get(name)), PdfStream)

    @property
    def area(self) -> Box | None:
        """What it may draw on: its rectangle and the points of its lines, in user space. ``None`` without area."""
        points = [*(self.numbers(b"/Rect") or [])]
        for key in (b"/L", b"/Vertices", b"/QuadPoints", b"/CL"):
            points += self.numbers(key) or []
        inks = self.get(b"/InkList")
        for ink in inks if isinstance(inks, list) else []:
            points += self._numbers(self._resolve(ink)) or []
        xs, ys = points[::2], points[1::2]
        return (min(xs), min(ys), max(xs), max(ys)) if len(xs) > 1 and len(xs) == len(ys) else None

    @classmethod
    def of(cls, other: "AnnotationValues", value: Any) -> "AnnotationValues":
        made = cls.__new__(cls)
        made._resolve = other._resolve  # noqa: SLF001  another of this class
        made._entries = value if isinstance(value, dict) else {}  # noqa: SLF001
        return made

    def _numbers(self, value: Any) -> list[float] | None:
        if not isinstance(value, list):
            return None
        found = [number_of(self._resolve(item)) for item in value]
        return [each for each in found if each is not None] if all(map(_is_finite, found)) else None


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
