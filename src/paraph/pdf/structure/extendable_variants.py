"""The variants of a file that a revision can extend, the least intrusive first."""

from collections.abc import Iterator
from typing import Literal

from paraph.pdf.errors import SealError
from paraph.pdf.structure.normalise import UnreadablePdf, normalised
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.recovery import recovered

Method = Literal["incremental", "general", "normalised"]
"""How a variant was made. ``incremental``: the file as it is. ``general``: its cross-reference is wrong, so a revision
with a new one follows it. ``normalised``: the file is rewritten."""

_SIGNED = b"/ByteRange"  # in the clear in every signed file: a signature dictionary is never packed


def extendable_variants(pdf: bytes) -> Iterator[tuple[Method, bytes]]:
    """Yield each variant with its method, made on demand. Raises
    :class:`~paraph.pdf.structure.normalise.UnreadablePdf` if the last one cannot be made."""
    yield "incremental", pdf
    if (whole := _recovered(pdf)) is not None:
        yield "general", whole
    if _SIGNED in pdf:  # a rewritten file would lose its signatures, and what they say of the changes after them
        raise UnreadablePdf("The PDF is signed and damaged: repairing it would break its signatures.")
    yield "normalised", normalised(pdf)


def _recovered(pdf: bytes) -> bytes | None:
    try:
        return recovered(pdf)
    except (Unsafe, SealError, *CONFUSED):
        return None
