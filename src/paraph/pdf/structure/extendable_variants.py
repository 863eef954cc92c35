"""The forms of a file that one more revision can extend, the least intrusive first."""

from collections.abc import Iterator
from typing import Literal

from paraph.pdf.errors import SealError
from paraph.pdf.structure.normalise import normalised
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.recovery import recovered

Method = Literal["incremental", "general", "normalised"]
"""``incremental``: the file is extended as it is. ``general``: its cross-reference is wrong, so a revision follows it
that brings a cross-reference of everything. ``normalised``: it is rewritten first."""


def forms(pdf: bytes) -> Iterator[tuple[Method, bytes]]:
    """Each form is made when it is asked for. Raises :class:`~paraph.pdf.structure.normalise.Unreadable` at the
    last."""
    yield "incremental", pdf
    if (whole := _recovered(pdf)) is not None:
        yield "general", whole
    yield "normalised", normalised(pdf)


def _recovered(pdf: bytes) -> bytes | None:
    try:
        return recovered(pdf)
    except (Unsafe, SealError, *CONFUSED):
        return None
