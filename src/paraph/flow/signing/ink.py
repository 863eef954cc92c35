"""Refusing drawings that leave no ink, so that what was drawn is what is sealed."""

from typing import Any

from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.strokes import has_ink


class NoInkError(DomainError):
    """A drawing has no line. ``field`` is "signature" or "initials"."""

    def __init__(self, field: str) -> None:
        super().__init__(
            "validation_error", f"{field}: there is no line in the drawing; draw it again or use the name."
        )
        self.field = field


def require_ink(signature: dict[str, Any], initials: dict[str, Any] | None) -> None:
    """Raises :class:`NoInkError` for a drawing in which nothing would be seen, as of a single tap."""
    for field, mark in (("signature", signature), ("initials", initials)):
        if mark and mark["type"] == "drawn" and not has_ink(mark["strokes"], mark.get("aspect", 1.0)):
            raise NoInkError(field)
