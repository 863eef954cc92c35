"""The variants of a file that a revision can extend, the least intrusive first."""

from collections.abc import Iterator
from typing import Literal

from paraph.pdf.errors import SealError
from paraph.pdf.structure.normalise import normalised
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.recovery import recovered

Method = Literal["incremental", "general", "normalised"]
"""How a variant was made. ``incremental``: the file as it is. ``general``: its cross-reference is wrong, so a revision
with a new one follows it. ``normalised``: the file is rewritten."""


def extendable_variants(pdf: bytes) -> Iterator[tuple[Method, bytes]]:
    """Yield each variant with its method, made on demand. Raises
    :class:`~paraph.pdf.structure.normalise.UnreadablePdf` if the last one cannot be made."""
    yield "incremental", pdf
    if (whole := _recovered(pdf)) is not None:
        yield "general", whole
    yield "normalised", normalised(pdf)


def _recovered(pdf: bytes) -> bytes | None:
    try:
        return recovered(pdf)
    except (Unsafe, SealError, *CONFUSED):
        return None
